package config

import (
	"net"
	"strings"
)

// IsPrivateHost reports whether a host is an address of this machine or of a private network, or a name that does not
// exist in public DNS. The URLs of providers may use plain http only with such a host.
func IsPrivateHost(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	if !strings.Contains(host, ".") {
		return true
	}
	for _, suffix := range []string{".localhost", ".local", ".internal", ".test", ".home.arpa"} {
		if strings.HasSuffix(strings.ToLower(host), suffix) {
			return true
		}
	}
	return false
}
