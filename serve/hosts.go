package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// anyHost is the element of Options.Hosts that stands for every name.
const anyHost = "*"

// checkHosts returns an error for the first element of Options.Hosts that the name in a header Host never equals.
func checkHosts(hosts []string) error {
	for _, host := range hosts {
		_, noAddress := netip.ParseAddr(host)
		if host == "" || strings.ContainsAny(host, "/ []") || noAddress != nil && strings.Contains(host, ":") {
			return fmt.Errorf("the host %q is not valid: give a name or an address without scheme and port, as in example.org, or %s for any", host, anyHost)
		}
	}
	return nil
}

// hosted reports whether the host that a request names is one of this server. A page of another site can make a browser send requests to
// this server under the site's own name, which the check of origins lets pass; the browser then sends that name as Host.
func (s *Server) hosted(r *http.Request) bool {
	hosts := s.options.Hosts
	if len(hosts) == 0 && (s.options.Token != "" || !local(r)) || slices.Contains(hosts, anyHost) {
		return true
	}
	if r.Host == "" { // HTTP/1.0, which no browser speaks
		return true
	}
	name := hostName(r.Host)
	if address, err := netip.ParseAddr(name); err == nil && address.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(append([]string{"localhost"}, hosts...), func(host string) bool { return strings.EqualFold(host, name) })
}

// local reports whether a request has come over a connection to a loopback address.
func local(r *http.Request) bool {
	address, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && address.IP.IsLoopback()
}

// hostName returns the name or address in a header Host, without port and brackets.
func hostName(header string) string {
	if name, _, err := net.SplitHostPort(header); err == nil {
		return name
	}
	if inner, ok := strings.CutPrefix(header, "["); ok {
		return strings.TrimSuffix(inner, "]")
	}
	return header
}
