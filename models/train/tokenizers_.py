"""Make the tokenizers: a byte-level BPE and a SentencePiece-style BPE, as tokenizer.json.

    python models/train/tokenizers_.py bytelevel --text TEXT/train --vocab 4096 --out FOLDER
    python models/train/tokenizers_.py sentencepiece --text TEXT/train --vocab 2048 --out FOLDER
    ... --control '<|im_start|>' '<|im_end|>' --eos '<|im_end|>'

The SentencePiece one is trained by `sentencepiece` (BPE, byte fallback, no normalisation, no
dummy prefix) and written as tokenizer.json; the two are then compared on part of the text.
"""
import argparse
import json
import random
import re
import tempfile
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

import data

END = "<|endoftext|>"
# The split of Llama 3.
SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def read_texts(path, control=()):
    """The texts of a folder of *.txt, or the fields `prompt` and `text` of *.jsonl, as they are between control tokens."""
    texts = [t for prompt, text, _ in data.read(path) for t in (prompt, text)]
    return [part for t in texts for part in (re.split("|".join(map(re.escape, control)), t) if control else [t])]


def write_config(out, bos, eos, unk=None):
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": bos, "eos_token": eos,
              "add_bos_token": False, "add_eos_token": False, "clean_up_tokenization_spaces": False}
    if unk:
        config["unk_token"] = unk
    (out / "tokenizer_config.json").write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n")


def bytelevel(args):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel(add_prefix_space=False, use_regex=False)
    trainer = trainers.BpeTrainer(vocab_size=args.vocab, special_tokens=[END], show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator(read_texts(args.text), trainer)
    assert tokenizer.get_vocab_size() == args.vocab
    args.out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(args.out / "tokenizer.json"))
    write_config(args.out, END, END)
    for text in samples(args.text, 300):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
    report(tokenizer, args.text)


def samples(path, count, control=()):
    rng = random.Random(2)
    texts = read_texts(path, control)
    for _ in range(count):
        text = rng.choice(texts)
        start = rng.randrange(max(1, len(text)))
        yield text[start:start + rng.randrange(1, 400)]
    yield from ("", " ", "   a", "a   ", "\n\n  x\t", "naïve café ▁ 日本 🎉", "\u00a0\u2003é\u0301")


def report(tokenizer, path):
    texts = read_texts(path)[:100]
    tokens = sum(len(tokenizer.encode(t).ids) for t in texts)
    print(f"{tokenizer.get_vocab_size()} tokens; {sum(len(t.encode()) for t in texts) / tokens:.2f} bytes a token")


def sentencepiece(args):
    import sentencepiece as spm
    with tempfile.TemporaryDirectory() as work:
        # One sentence a line: a line feed is always the byte token <0x0A>.
        lines = [l for t in read_texts(args.text, args.control) for l in t.split("\n") if l]
        spm.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_prefix=f"{work}/m", model_type="bpe", vocab_size=args.vocab,
            byte_fallback=True, character_coverage=0.9995, normalization_rule_name="identity",
            add_dummy_prefix=False, remove_extra_whitespaces=False, allow_whitespace_only_pieces=True,
            split_digits=True, max_sentence_length=100000, num_threads=2, minloglevel=1,
            input_sentence_size=args.sentences, shuffle_input_sentence=True,
            control_symbols=args.control, unk_id=0, bos_id=1, eos_id=2, pad_id=-1)
        processor = spm.SentencePieceProcessor(model_file=f"{work}/m.model")

    size = processor.get_piece_size()
    assert size == args.vocab
    vocab = {processor.id_to_piece(i): i for i in range(size)}
    ranked = [i for i in range(size) if not (processor.is_control(i) or processor.is_unknown(i) or processor.is_byte(i))]
    # SentencePiece merges the pair whose result has the best score (the lowest id).  A rank for
    # every pair that joins into a piece gives the same order.
    merges = [(p[:k], p[k:]) for p in map(processor.id_to_piece, sorted(ranked, key=lambda i: (-processor.get_score(i), i)))
              for k in range(1, len(p)) if p[:k] in vocab and p[k:] in vocab]
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False)
                                  for t in ("<unk>", "<s>", "</s>", *args.control)])
    args.out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(args.out / "tokenizer.json"))
    write_config(args.out, "<s>", args.eos, "<unk>")

    compared = 0
    for text in samples(args.text, 500, args.control):
        ids = tokenizer.encode(text).ids
        assert ids == processor.encode(text), (text, tokenizer.encode(text).tokens, processor.encode(text, out_type=str))
        assert tokenizer.decode(ids) == text.replace("▁", " "), text
        compared += 1
    print(f"tokenizer.json encodes as sentencepiece does: {compared} texts")
    report(tokenizer, args.text)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kind", choices=("bytelevel", "sentencepiece"))
    p.add_argument("--text", type=Path, required=True)
    p.add_argument("--vocab", type=int, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--control", nargs="*", default=[])
    p.add_argument("--eos", default="</s>")
    p.add_argument("--sentences", type=int, default=200000)
    args = p.parse_args()
    {"bytelevel": bytelevel, "sentencepiece": sentencepiece}[args.kind](args)


if __name__ == "__main__":
    main()
