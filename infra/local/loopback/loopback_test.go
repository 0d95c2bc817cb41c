package loopback_test

import (
	"testing"

	"devplatform/infra/local/loopback"
)

func TestIsBelowLocalhost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"a.localhost": true, "a.localhost:3001": true, "A.LocalHost:1": true, "a.b.localhost": true, "a--b-1.localhost:3001": true,
		"": false, ":3001": false, "localhost": false, "localhost:3001": false, ".localhost": false, "a..localhost": false,
		"a.localhost.": false, "alocalhost": false, "a.localhost.evil.example": false, "127.0.0.1": false, "127.0.0.1:3001": false,
		"[::1]:3001": false, "evil.example": false, "-a.localhost": false, "a_b.localhost": false, "a.localhost:3001:evil": false,
		"evil@a.localhost": false, "*.localhost": false,
	} {
		if got := loopback.IsBelowLocalhost(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "localhost:3000": true, "LocalHost:1": true, "127.0.0.1": true, "127.0.0.1:4566": true,
		"[::1]": true, "[::1]:3000": true, "app.example": true, "App.Example:8443": true,
		"": false, ":3000": false, "evil.example": false, "evil.example:3000": false, "localhost.evil.example": false,
		"a.localhost": false, "127.0.0.1.nip.io": false, "127.0.0.2": false, "0.0.0.0": false, "a.app.example": false,
		"localhost:3000:evil": false, "evil@localhost": false,
	} {
		if got := loopback.Accepts(host, "app.example", ""); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
