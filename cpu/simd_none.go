package cpu

const scalarReason = "scalar kernels"

func simdKernelSets() []*kernelSet { return nil }
