# An image with nothing but the program, about 30 MB:
#
#	docker build -t ut .
#	docker run --rm -v "$PWD:/data" ut train own-pairs --set task.path=pairs.tsv --out runs/pairs
#	docker run --rm -v "$PWD:/data" -p 8080:8080 -e UT_TOKEN=secret ut serve runs/pairs --address :8080
# Go 1.26.5 or newer: docker build --pull replaces an older image.
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -buildvcs=auto -trimpath -ldflags=-s -o /ut ./cmd/ut

FROM scratch
COPY --from=build /ut /ut
WORKDIR /data
ENTRYPOINT ["/ut"]
