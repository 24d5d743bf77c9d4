"""The CUDA executor: generated kernels, and library ops through CuPy, which is imported only when it is asked for."""
