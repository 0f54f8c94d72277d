// Package charts holds the styles and the scripts of the pages that show curves of training: ut watch and ut compare. They extend the styles of
// package viewer's page.
package charts

import (
	_ "embed"

	"universal-transformer/viewer"
)

//go:embed page/charts.css
var style string

//go:embed page/chart.js
var chart string

//go:embed page/charts.js
var charts string

// Style returns the style sheet, light and dark.
func Style() string { return viewer.Style() + style }

// Script returns the script. It defines the class Charts, which draws the rows of package curves, and shows nothing by itself.
func Script() string { return viewer.Tools() + chart + charts }
