package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/internal/provenance"
	"universal-transformer/paper/measure"
	"universal-transformer/pipeline"
)

const tablePairedHelp = `paired compares the translations of two runs of table 7 with the same seed: the Universal
Transformer (row translation) and ROW, both in COLUMN. The models translate the test set by which
the column is compared, with the beam and the length penalties of their results, and must have the
BLEU of the results to the last digit. Other builds and backends round otherwise: use those that
measured the results, which are recorded in them (measured_by).

The test is the one of ut bleu --paired: sacreBLEU's paired bootstrap, 1,000 resamples, seed 12345.
It is about the sentences of the test set and the two runs, not about other seeds: ut table report
shows it beside the tests over seeds, and no verdict counts it.

Every seed needs the results and the run directories of both rows. The test is written to the
folder paired in the folder of results, as ROW-COLUMN-seedN.json, and replaces an earlier one.

Ctrl-C stops; the tests of finished seeds stay.`

// pairedFlags holds the flags of ut table paired.
type pairedFlags struct {
	request        measure.PairRequest
	seeds, backend string
}

func newTablePaired() *cobra.Command {
	var f pairedFlags
	c := &cobra.Command{
		Use:   "paired ROW COLUMN",
		Short: "Compare the translations of table 7 by paired bootstrap",
		Long:  tablePairedHelp,
		Example: `  ut table paired translation-transformer multi30k
  ut table paired translation-transformer news --seeds 2-3 --backend cpu:threads=1,products=bf16
  ut table paired translation-transformer news --seeds 2,3 --results results --data wmt_news`,
		Args: arguments("ROW", "COLUMN"),
		RunE: prompt(f.run),
	}
	c.Flags().StringVar(&f.request.Runs, "runs", "runs", "`folder` of run directories")
	c.Flags().StringVar(&f.request.Results, "results", "", "`folder` of results (default results in the folder of run directories)")
	c.Flags().StringVar(&f.request.Data, "data", "", "`path` of the column's data (default where they were in training, or beside the run)")
	c.Flags().StringVar(&f.seeds, "seeds", "3", "`seeds`: how many, a range or a list, as in 3, 4-6 or 1,3")
	backendFlag(c, &f.backend)
	return c
}

func (f *pairedFlags) run(c *cobra.Command, args []string) error {
	seeds, err := parseSeeds(f.seeds)
	if err != nil {
		return usageError{fmt.Errorf("--seeds: %w", err)}
	}
	f.request.Row, f.request.Column = args[0], args[1]
	if f.request.Results == "" {
		f.request.Results = filepath.Join(f.request.Runs, "results")
	}
	return using(f.backend, func(backend compute.Backend) error {
		f.request.Load = func(dir string) (*pipeline.Model, error) { return pipeline.Load(dir, backend) }
		for _, seed := range seeds {
			f.request.Seed = seed
			if err := f.pair(c, backend); err != nil {
				return tableError(err)
			}
		}
		return nil
	})
}

// pair tests the runs of one seed, writes the test and prints it.
func (f *pairedFlags) pair(c *cobra.Command, backend compute.Backend) error {
	by, meter := pipeline.Provenance(backend), provenance.Start()
	defer meter.Stop()
	found, err := f.request.Test(c.Context(), lineWriter(c))
	if errors.Is(err, measure.ErrNoData) {
		return fmt.Errorf("%w: name them with --data", err)
	}
	if err != nil {
		return err
	}
	by.WallSeconds, by.CPUSeconds = meter.Seconds()
	found.MeasuredBy = by
	if err := found.Save(f.request.Results); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s (%s)\n", found.Summary(), filepath.Join(f.request.Results, found.File()))
	return err
}
