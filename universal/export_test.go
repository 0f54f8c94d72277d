package universal

// NormEpsilon is normEpsilon.
const NormEpsilon = normEpsilon
