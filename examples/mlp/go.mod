module example.com/mlp

go 1.26.5

require (
	github.com/gomlx/compute v0.1.3
	github.com/gomlx/gomlx v0.28.3
	universal-transformer v0.0.0
)

require (
	codeberg.org/go-pdf/fpdf v0.11.1 // indirect
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f // indirect
	golang.org/x/image v0.41.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	k8s.io/klog/v2 v2.140.0 // indirect
)

replace universal-transformer => ../..
