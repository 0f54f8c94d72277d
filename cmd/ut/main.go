// Command ut trains, evaluates, decodes and shows Universal Transformers.
package main

import (
	_ "github.com/gomlx/compute/gobackend"
	_ "github.com/gomlx/gomlx/ml/train/optimizer"
	_ "github.com/spf13/cobra"
	_ "golang.org/x/term"
)

func main() {}
