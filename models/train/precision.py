"""Products in BF16 where the CPU multiplies them, otherwise in F32: without such instructions BF16 is many times slower."""
import torch

FAST_BF16 = torch.cpu._is_avx512_bf16_supported()


def autocast():
    return torch.autocast("cpu", torch.bfloat16, enabled=FAST_BF16)


def weights():
    return torch.bfloat16 if FAST_BF16 else torch.float32
