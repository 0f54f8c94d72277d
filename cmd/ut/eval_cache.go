package main

import (
	"strconv"
	"strings"

	"universal-transformer/pipeline"
)

// checkCache reads the constants of the cache.
func (f *evalFlags) checkCache() error {
	switch f.cache {
	case "":
		return nil
	case "tune":
		f.TuneCache = true
		return nil
	}
	var c pipeline.Cache
	theta, lambda, ok := strings.Cut(f.cache, ",")
	var errTheta, errLambda error
	c.Theta, errTheta = strconv.ParseFloat(theta, 64)
	c.Lambda, errLambda = strconv.ParseFloat(lambda, 64)
	if !ok || errTheta != nil || errLambda != nil {
		return usagef("--cache is %q: give two numbers, as in 0.1,0.3, or tune", f.cache)
	}
	if err := c.Validate(); err != nil {
		return usagef("--cache: %w", err)
	}
	f.Cache = &c
	return nil
}
