module example.com/loop

go 1.26.5

require (
	github.com/gomlx/compute v0.1.3
	github.com/gomlx/gomlx v0.28.3
	universal-transformer v0.0.0
)

require (
	cogentcore.org/lab v0.1.18 // indirect
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/gofrs/flock v0.13.0 // indirect
	github.com/gomlx/compute-onnx v0.1.0 // indirect
	github.com/gomlx/go-xla v0.4.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/ulikunitz/xz v0.5.17 // indirect
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/term v0.44.0 // indirect
	golang.org/x/text v0.37.0 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
	k8s.io/klog/v2 v2.140.0 // indirect
)

replace universal-transformer => ../..
