"""SmolLM2 that writes many texts side by side, in BF16, and keeps the feature behind every token.

A feature is what the head is multiplied with (behind the last norm). The texts begin alike (the chat form's system message),
so that part is computed once; behind it they end in one column of a key-value cache of fixed size, and those that have ended
are taken out of it.
"""
import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

import data
import llama
import precision

TAIL = "<|im_end|>\n<|im_start|>assistant\n"  # from a prompt to its answer
BEGIN = f"<|im_start|>system\n{data.SYSTEM}<|im_end|>\n<|im_start|>user\n"


def compiled():
    """attend.c, where the CPU and a compiler have what it takes."""
    if precision.DEVICE != "cpu" or not precision.FAST_BF16 or not shutil.which("cc"):
        return None
    library = tempfile.NamedTemporaryFile(suffix=".so")
    flags = "-O3 -march=native -ffast-math -fno-finite-math-only -shared -fPIC -o".split()
    made = subprocess.run(["cc", *flags, library.name, str(Path(__file__).with_name("attend.c")), "-lmvec", "-lm"])
    if made.returncode != 0:
        return None
    attend = ctypes.CDLL(library.name).attend
    attend.argtypes = [ctypes.c_void_p] * 5 + [ctypes.c_int64] * 4
    attend.restype = None
    return attend


class Text:
    def __init__(self, ids, features, ended):
        self.ids, self.features, self.ended = ids, features, ended


class Writer:
    def __init__(self, gguf):
        self.tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        with torch.device("cpu"):
            model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=precision.weights(),
                                                         quantization_config=GgufConfig(dequantize=True)).eval()
        model = model.to(precision.DEVICE)
        c = model.config
        theta = getattr(c, "rope_theta", None) or c.rope_parameters["rope_theta"]
        self.config = llama.Config(**{k: getattr(c, k) for k in llama.Config.__dataclass_fields__ if k != "rope_theta"},
                                   rope_theta=theta)
        self.heads, self.kv_heads, self.dim = c.num_attention_heads, c.num_key_value_heads, self.config.head_dim
        self.embedding, self.norm = model.get_input_embeddings().weight.detach(), model.model.norm.weight.detach()
        self.wide = self.embedding.float().T if precision.DEVICE == "cuda" else None
        self.attend = compiled() if (self.heads, self.kv_heads, self.dim) == (9, 3, 64) else None
        self.layers = []
        for layer in model.model.layers:
            a, m = layer.self_attn, layer.mlp
            self.layers.append([w.detach() for w in (
                layer.input_layernorm.weight, torch.cat([a.q_proj.weight, a.k_proj.weight, a.v_proj.weight]), a.o_proj.weight,
                layer.post_attention_layernorm.weight, torch.cat([m.gate_proj.weight, m.up_proj.weight]), m.down_proj.weight)])
        cos, sin = llama.rope_tables(self.config, 2048)
        self.cos, self.sin = cos.to(self.embedding.dtype), sin.to(self.embedding.dtype)
        self.end = self.tokenizer.convert_tokens_to_ids("<|im_end|>")
        self.begin, self.tail = self.encode(BEGIN), self.encode(TAIL)
        self.keys, self.values = self.room(1, len(self.begin))
        with torch.no_grad():
            self.begin_features = self.run(torch.tensor([self.begin]), torch.arange(len(self.begin))[None],
                                           (self.keys, self.values, 0), None)[0]

    def encode(self, text):
        return self.tokenizer(text, add_special_tokens=False).input_ids

    def framed(self, prompt, text, ended):
        """(a conversation's ids from its beginning, where the answer begins), given the ids of both."""
        head = self.begin + prompt[:400] + self.tail
        return head + text + [self.end] * ended, len(head)

    def room(self, texts, columns):
        return tuple([self.embedding.new_empty(texts, self.kv_heads, columns, self.dim) for _ in self.layers] for _ in range(2))

    @torch.no_grad()
    def whole(self, ids, taken=None):
        """Features behind whole texts [b, t]."""
        b, t = ids.shape
        return self.run(ids, torch.arange(t)[None], (*self.room(b, t), 0), None, taken)

    def run(self, ids, positions, cache, mask, taken=None):
        """Features behind ids [b, t]. cache: keys and values of each layer, and the column that ids begin at. taken: a dict of
        layers, which gets what stands before each."""
        b, t = ids.shape
        x = F.embedding(ids, self.embedding)
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        eps, width = self.config.rms_norm_eps, (self.config.hidden_size,)
        for number, (norm, qkv, out, norm2, gate_up, down) in enumerate(self.layers):
            if taken and number in taken:
                taken[number] = x
            q, k, v = F.linear(F.rms_norm(x, width, norm, eps), qkv).view(b, t, -1, self.dim).transpose(1, 2).split(
                [self.heads, self.kv_heads, self.kv_heads], 1)
            q, k = llama.rotate(q, cos, sin), llama.rotate(k, cos, sin)
            keys, values, at = cache[0][number], cache[1][number], cache[2]
            keys[:, :, at:at + t], values[:, :, at:at + t] = k, v
            k, v = keys[:, :, :at + t], values[:, :, :at + t]
            if t == 1 and self.attend:
                y = torch.empty(b, 1, self.heads * self.dim, dtype=x.dtype)
                q = q.contiguous()
                self.attend(q.data_ptr(), keys.data_ptr(), values.data_ptr(), mask.data_ptr(), y.data_ptr(), b * self.kv_heads,
                            at + 1, keys.shape[2], self.kv_heads)
            elif t == 1 and x.is_cuda:  # twice as fast as with the mask of many queries
                scores = q.reshape(b, self.kv_heads, -1, self.dim) @ k.transpose(2, 3)
                y = (scores.float() * self.dim ** -0.5 + mask).softmax(-1).to(v.dtype) @ v
                y = y.reshape(b, 1, -1)
            elif t == 1:
                # The query heads of a group stand as rows of its key-value head.
                y = F.scaled_dot_product_attention(q.reshape(b, self.kv_heads, -1, self.dim), k, v,
                                                   attn_mask=mask.expand(b, self.kv_heads, self.heads // self.kv_heads, -1))
                y = y.reshape(b, 1, -1)
            else:
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None, enable_gqa=True)
                y = y.transpose(1, 2).reshape(b, t, -1)
            x = x + F.linear(y, out)
            gate, up = F.linear(F.rms_norm(x, width, norm2, eps), gate_up).chunk(2, dim=-1)
            x = x + F.linear(F.silu(gate) * up, down)
        return F.rms_norm(x, width, self.norm, eps)

    def choose(self, features, temperatures, top_k, min_p, generator):
        if features.is_cuda:  # TF32 holds BF16 numbers as they are, and sums are in F32
            logits = features.float() @ self.wide
            chosen = logits.argmax(-1)
        else:
            logits = F.linear(features, self.embedding)
            # BF16 rounds logits: the best few again in F32.
            few = logits.topk(4, dim=-1).indices
            exact = (self.embedding[few].float() @ features.float()[:, :, None]).squeeze(-1)
            chosen = few.gather(1, exact.argmax(-1, keepdim=True)).squeeze(1)
        rows = (temperatures > 0).nonzero().flatten()
        if len(rows):
            values, ids = logits[rows].float(), None
            if top_k:
                values, ids = values.topk(top_k, dim=-1)
            p = (values / temperatures[rows][:, None]).softmax(-1)
            if min_p:
                p = p * (p >= min_p * p.amax(-1, keepdim=True))
            below = p.cumsum(-1)
            coin = torch.rand(len(rows), 1, generator=generator) * below[:, -1:]
            at = torch.searchsorted(below, coin, right=True).clamp(max=p.shape[1] - 1)
            chosen[rows] = at.squeeze(1) if ids is None else ids.gather(1, at).squeeze(1)
        return chosen

    @torch.no_grad()
    def write(self, prompts, most, temperatures, generator, top_k=0, min_p=0.0, features=True):
        """[Text] to prompts (ids behind `begin`), each until it ends or has most[i] tokens. A text's ids and features go from the
        beginning to its end; the token that ended it is among them, without a feature of its own."""
        dtype, n, b = self.embedding.dtype, len(self.begin), len(prompts)
        longest, most = max(map(len, prompts)), torch.tensor(most)
        columns = n + longest + int(most.max())
        keys, values = self.room(b, columns)
        for mine, begin in ((keys, self.keys), (values, self.values)):
            for m, s in zip(mine, begin):
                m[:, :, :n] = s
        pad = torch.tensor([longest - len(p) for p in prompts])
        ids = torch.tensor([[self.end] * (longest - len(p)) + p for p in prompts])
        at = torch.arange(columns)
        hidden = (at[None] >= n) & (at[None] < n + pad[:, None])  # between the beginning and the prompt
        mask = torch.zeros(b, 1, 1, columns, dtype=dtype).masked_fill(hidden[:, None, None], float("-inf"))
        positions = (n + torch.arange(longest)[None] - pad[:, None]).clamp(min=0)
        made = torch.empty(b, longest + int(most.max()), self.config.hidden_size, dtype=dtype) if features else None
        last = torch.empty(b, self.config.hidden_size, dtype=dtype)
        some = max(32, precision.at_a_time(1) * 8 // longest)  # a few prompts at a time: their masks are large
        for i in range(0, b, some):
            part = slice(i, i + some)
            causal = (n + torch.arange(longest))[:, None] >= at[None, :n + longest]
            whole = causal[None, None] & ~hidden[part, None, None, :n + longest]
            f = self.run(ids[part], positions[part], ([k[part] for k in keys], [v[part] for v in values], n), whole)
            last[part] = f[:, -1]
            if features:
                made[part, :longest] = f
        written = torch.zeros(b, int(most.max()), dtype=torch.long)
        count, ended, alive = torch.zeros(b, dtype=torch.long), torch.zeros(b, dtype=torch.bool), torch.arange(b)
        rows = torch.arange(b)  # of the cache, behind each text that goes on
        for step in range(int(most.max())):
            token = self.choose(last, temperatures[alive], top_k, min_p, generator)
            written[alive, step] = token
            count[alive] += 1
            over = token == self.end
            ended[alive[over]] = True
            goes_on = ~over & (count[alive] < most[alive])
            alive, rows, token = alive[goes_on], rows[goes_on], token[goes_on]
            if not len(alive):
                break
            if len(rows) < 0.85 * len(keys[0]):
                used = n + longest + step
                for mine in (keys, values):
                    for number, old in enumerate(mine):
                        mine[number] = old.new_empty(len(rows), *old.shape[1:])
                        mine[number][:, :, :used] = old[rows, :, :used]
                rows = torch.arange(len(rows))
            if len(rows) < len(keys[0]):  # ended texts are computed until they are taken out
                everyone = torch.zeros(len(keys[0]), dtype=torch.long)
                everyone[rows] = token
                whose = torch.zeros(len(keys[0]), dtype=torch.long)
                whose[rows] = alive
            else:
                everyone, whose = token, alive
            column = n + longest + step
            f = self.run(everyone[:, None], (column - pad[whose])[:, None], (keys, values, column),
                         mask[whose, :, :, :column + 1].to(torch.float32 if self.attend else dtype).contiguous())[rows, 0]
            if features:
                made[alive, longest + step] = f
            last = f
        out = []
        for i, (prompt, line, n, over) in enumerate(zip(prompts, written.tolist(), count.tolist(), ended.tolist())):
            kept = torch.cat([self.begin_features, made[i, longest - len(prompt):longest + n - 1]]) if features else None
            out.append(Text(self.begin + prompt + line[:n], kept, over))
        return out
