"""The device that scripts compute on, and products in BF16 where it multiplies them, otherwise in F32: without such instructions
BF16 is many times slower. Where there is a GPU, tensors are made there."""
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
FAST_BF16 = DEVICE == "cuda" or torch.cpu._is_avx512_bf16_supported()
if DEVICE == "cuda":
    torch.set_default_device(DEVICE)
    torch.backends.cuda.matmul.allow_tf32 = True


def autocast():
    return torch.autocast(DEVICE, torch.bfloat16, enabled=FAST_BF16)


def weights():
    return torch.bfloat16 if FAST_BF16 else torch.float32


def at_a_time(cpu):
    """Rows that a loss computes logits of at a time: on a CPU so many, which stay in its cache."""
    return 8192 if DEVICE == "cuda" else cpu
