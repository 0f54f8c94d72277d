//go:build !unix

package main

import "os"

var passedOn []os.Signal

func enoughFiles() error { return nil }
