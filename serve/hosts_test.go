package serve

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
)

// Without a token, a connection to a loopback address is answered only under names that are surely this machine's, also for paths that need
// no token: a page of another site cannot make its name lead here. Caught when planted: no check; one with a token.
func TestHosts(t *testing.T) {
	loopback, other := &net.TCPAddr{IP: net.IPv6loopback, Port: 80}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}
	ours := []string{"", "localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:1", "127.1.2.3", "[::1]", "[::1]:8080"}
	foreign := []string{":80", "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example:80", "localhostx", "192.0.2.1", "[2001:db8::1]:80", "::1]x", "*"}
	for name, c := range map[string]struct {
		options Options
		address net.Addr // to which the client connected
		also    []string // foreign hosts that are answered
	}{
		"default":            {Options{}, loopback, nil},
		"token":              {Options{Token: "secret"}, loopback, foreign},
		"other machines":     {Options{}, other, foreign},
		"socket":             {Options{}, &net.UnixAddr{Name: "socket"}, foreign},
		"unknown":            {Options{}, nil, foreign},
		"hosts":              {Options{Hosts: []string{"Evil.example", "2001:db8::1"}}, loopback, []string{"evil.example", "evil.example:8080", "[2001:db8::1]:80"}},
		"hosts, other":       {Options{Hosts: []string{"192.0.2.1"}}, other, []string{"192.0.2.1"}},
		"hosts with a token": {Options{Hosts: []string{"192.0.2.1"}, Token: "secret"}, other, []string{"192.0.2.1"}},
		"any":                {Options{Hosts: []string{"*"}}, loopback, foreign},
	} {
		s, _ := opened(t, c.options)
		answered := map[string]bool{}
		for _, host := range slices.Concat(ours, c.also) {
			answered[host] = true
		}
		for _, host := range slices.Concat(ours, foreign) {
			for _, path := range []string{"/", "/healthz", "/v1/models", "/nowhere"} {
				r := httptest.NewRequest(http.MethodGet, path, nil)
				if c.address != nil {
					r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.address))
				}
				r.Host = host
				r.Header.Set("Authorization", "Bearer secret")
				recorded := httptest.NewRecorder()
				s.Handler().ServeHTTP(recorded, r)
				if got := recorded.Code != http.StatusForbidden; got != answered[host] {
					t.Errorf("%s: %s at %q: status %d", name, path, host, recorded.Code)
				}
				if recorded.Code == http.StatusForbidden && !strings.Contains(wrong(t, recorded.Body.String()), "is not one of this server: use localhost") {
					t.Errorf("%s at %q: %s", path, host, recorded.Body)
				}
			}
		}
	}
}

// A real connection to a loopback address is known as one. Caught when planted: no check.
func TestHostOfConnection(t *testing.T) {
	_, web := opened(t, Options{})
	for host, want := range map[string]int{"localhost": http.StatusOK, "evil.example": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+"/v1/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Origin", "http://"+host)
		response, err := web.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: status %d, want %d", host, response.StatusCode, want)
		}
	}
}

// Names that no request can have, and tokens that no header can have, are errors at the start.
func TestHostsAndTokenOfOptions(t *testing.T) {
	for want, options := range map[string][]Options{
		"is not valid: give a name or an address": {{Hosts: []string{"good", ""}}, {Hosts: []string{"good", "http://a.example"}}, {Hosts: []string{"good", "a.example:80"}}, {Hosts: []string{"good", "[::1]"}}, {Hosts: []string{"good", "a b"}}},
		"Options.Token must":                      {{Token: "\n"}, {Token: "two words"}, {Token: "schlüssel"}, {Token: "a\x7f"}, {Token: "good\n"}},
	} {
		for _, o := range options {
			if s, err := Open([]string{copier}, enginetest.Backend(t), o); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v", o, err)
				if err == nil {
					s.Close()
				}
			}
		}
	}
	if err := (Options{Hosts: []string{"a.example", "::1", "192.0.2.1", "*"}, Token: "good-token/=~!"}).Validate(); err != nil {
		t.Error(err)
	}
}
