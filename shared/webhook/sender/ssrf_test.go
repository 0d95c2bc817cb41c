package sender_test

import (
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"devplatform/shared/webhook/sender"
)

const notPublic = "the address is not public"

// rejectedHosts contains hosts that are rejected, by the class of their address.
var rejectedHosts = map[string][]string{
	"private": {
		"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255",
	},
	"loopback":     {"127.0.0.1", "127.0.0.2", "127.255.255.254", "[::1]"},
	"this network": {"0.0.0.0", "0.1.2.3", "[::]"},
	"link-local":   {"169.254.0.1", "[fe80::1]", "[fe80::1%25lo]", "[fe80::1%25eth0]", "[febf::1]"},
	"metadata": {
		"169.254.169.254", "169.254.170.2", "169.254.170.23", "[fd00:ec2::254]", "[fd00:ec2::23]", "100.100.100.200",
		"192.0.0.192",
	},
	"carrier-grade NAT":      {"100.64.0.1", "100.127.255.255"},
	"unique local":           {"[fc00::1]", "[fd12:3456:789a::1]"},
	"site-local, deprecated": {"[fec0::1]"},
	"NAT64":                  {"[64:ff9b::7f00:1]", "[64:ff9b::10.0.0.1]", "[64:ff9b::8.8.8.8]", "[64:ff9b:1::7f00:1]"},
	"6to4":                   {"[2002:7f00:1::]", "[2002:a00:1::1]", "192.88.99.1"},
	"Teredo":                 {"[2001::1]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]"},
	"v4-mapped": {
		"[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[::ffff:7f00:1]", "[::ffff:0.0.0.0]",
	},
	"v4-compatible":             {"[::127.0.0.1]", "[::7f00:1]"},
	"v4-translated":             {"[::ffff:0:127.0.0.1]"},
	"broadcast":                 {"255.255.255.255"},
	"reserved":                  {"240.0.0.1", "192.0.0.1", "198.18.0.1"},
	"multicast":                 {"224.0.0.1", "239.255.255.255", "[ff02::1]", "[ff0e::1]"},
	"documentation":             {"192.0.2.1", "198.51.100.1", "203.0.113.1", "[2001:db8::1]", "[3fff::1]"},
	"discard, SRv6, unassigned": {"[100::1]", "[5f00::1]", "[4000::1]", "[e000::1]"},
	"Unicode digits":            {"１２７.０.０.１", "①②⑦.⓪.⓪.①", "127。0。0。1"},
}

func TestPrivateAddressesAreRejected(t *testing.T) {
	t.Parallel()
	// If the check accepted an address, the request would reach one of these two endpoints.
	v4, v6 := listen(t, "127.0.0.1:0", respond("HTTP/1.1 200 OK\r\n\r\n")), (*endpoint)(nil)
	if listener, err := net.Listen("tcp", "[::1]:0"); err == nil { // this machine has IPv6
		_ = listener.Close()
		v6 = listen(t, "[::1]:"+v4.port(), respond("HTTP/1.1 200 OK\r\n\r\n"))
	}
	restricted := sender.New(sender.Options{Resolver: dnsServer(t, fixedNames(nil))})
	for class, hosts := range rejectedHosts {
		for _, host := range hosts {
			if sender.CheckURL("https://"+host+"/", false) == nil {
				t.Errorf("%s: CheckURL accepts %s", class, host)
			}
			got := post(t, restricted, "https://"+host+":"+v4.port()+"/")
			if got.Error != notPublic || got.StatusCode != 0 || got.TimedOut || got.Aborted {
				t.Errorf("%s: %s: got %+v, want the error that the address is not public", class, host, got)
			}
		}
	}
	if n := v4.accepted.Load(); n != 0 || v6 != nil && v6.accepted.Load() != 0 {
		t.Fatalf("got %d IPv4 connections, or an IPv6 connection, want none", n)
	}
	// If private addresses are allowed, the same hosts reach the endpoint. So the count above is 0 because of the check.
	for i, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0", "１２７.０.０.１"} {
		got := post(t, localSender(), "http://"+host+":"+v4.port()+"/")
		if !got.OK() || v4.accepted.Load() != int32(i+1) {
			t.Errorf("%s, private addresses allowed: got %+v and %d connections, want a success and %d",
				host, got, v4.accepted.Load(), i+1)
		}
	}
}

// C libraries and browsers accept these notations of inet_aton as addresses.
func TestNumericHostsAreRejected(t *testing.T) {
	t.Parallel()
	private := listen(t, "127.0.0.1:0", respond("HTTP/1.1 200 OK\r\n\r\n"))
	hosts := []string{
		// The address of the endpoint
		"2130706433", "017700000001", "0x7f000001", "0X7F000001", "0177.0.0.1", "0177.0.0.01", "0x7f.0.0.1", "0x7f.1",
		"127.1", "127.0.1", "127.0.0.01", "127.0.0.1.", "2130706433.",
		// Other addresses that are not public
		"0", "0.0", "0x0", "2852039166", "0xa9fea9fe", "169.254.43518", "10.1", "192.168.257", "4294967295",
	}
	const hostsOfEndpoint = 13 // the first ones
	restricted := sender.New(sender.Options{Resolver: dnsServer(t, fixedNames(nil))})
	for _, host := range hosts {
		if sender.CheckURL("https://"+host+"/", false) == nil {
			t.Errorf("CheckURL accepts %s", host)
		}
		if got := post(t, restricted, "https://"+host+":"+private.port()+"/"); got.Error != notPublic {
			t.Errorf("%s: got %+v, want the error that the address is not public", host, got)
		}
	}
	if n := private.accepted.Load(); n != 0 {
		t.Errorf("got %d connections, want none", n)
	}
	for _, host := range hosts[:hostsOfEndpoint] {
		if got := post(t, localSender(), "http://"+host+":"+private.port()+"/"); !got.OK() {
			t.Errorf("%s, private addresses allowed: got %+v, want a success", host, got)
		}
	}
}

func TestParseIPv4(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"1.2.3.4": "1.2.3.4", "1.2.772": "1.2.3.4", "1.131844": "1.2.3.4", "16909060": "1.2.3.4",
		"0x01.02.0x0304": "1.2.3.4", "010.8": "8.0.0.8",
		// Not IPv4 addresses
		"": "", "256.1.1.1": "", "1.256.1": "", "1.1.65536": "", "1.16777216": "", "4294967296": "", "1.2.3.4.5": "",
		"1..2": "", "08": "", "0x": "", "0xg": "", "+1": "", "-1": "", "1_0": "", "0b1": "", "0o7": "", "a.1": "",
		"1.a": "", "::1": "",
	} {
		got, ok := sender.ParseIPv4(host)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("ParseIPv4(%q): got %s, %t, want %q", host, got, ok, want)
		}
	}
}

func TestNamesOfPrivateAddressesAreRejected(t *testing.T) {
	t.Parallel()
	private := listen(t, "127.0.0.1:0", respond("HTTP/1.1 200 OK\r\n\r\n"))
	addresses := map[string][]string{
		"loopback.test":      {"127.0.0.1"},
		"loopback6.test":     {"::1"},
		"both.test":          {"::1", "127.0.0.1"},
		"zero.test":          {"0.0.0.0", "::"},
		"private.test":       {"10.0.0.1", "192.168.1.1"},
		"metadata.test":      {"169.254.169.254"},
		"metadata6.test":     {"fd00:ec2::254"},
		"cgnat.test":         {"100.64.0.1"},
		"ula.test":           {"fd00::1"},
		"nat64.test":         {"64:ff9b::7f00:1"},
		"6to4.test":          {"2002:7f00:1::"},
		"teredo.test":        {"2001:0:4136:e378::1"},
		"mapped.test":        {"::ffff:127.0.0.1"},
		"linklocal.test":     {"fe80::1"},
		"broadcast.test":     {"255.255.255.255"},
		"multicast.test":     {"224.0.0.1", "ff02::1"},
		"under_score.test":   {"127.0.0.1"},
		"xn--bcher-kva.test": {"127.0.0.1"},
	}
	restricted := sender.New(sender.Options{Resolver: dnsServer(t, fixedNames(addresses))})
	for name := range addresses {
		for _, host := range []string{name, name + ".", strings.ToUpper(name)} {
			if got := post(t, restricted, "https://"+host+":"+private.port()+"/"); got.Error != notPublic {
				t.Errorf("%s: got %+v, want the error that the address is not public", host, got)
			}
		}
	}
	for _, host := range []string{"localhost", "bücher.test"} {
		if got := post(t, restricted, "https://"+host+":"+private.port()+"/"); got.Error != notPublic {
			t.Errorf("%s: got %+v, want the error that the address is not public", host, got)
		}
	}
	got := post(t, restricted, "https://nowhere.test/")
	if got.Error != "the host name could not be resolved" || got.TimedOut {
		t.Errorf("a name that does not exist: got %+v, want an error of the DNS lookup", got)
	}
	if n := private.accepted.Load(); n != 0 {
		t.Errorf("got %d connections, want none", n)
	}
}

// listenPublicAndPrivate starts an endpoint on 127.0.0.2, which these tests treat as public, and one on the same port
// of 127.0.0.1, which is private.
func listenPublicAndPrivate(t *testing.T) (public, private *endpoint) {
	public = listen(t, "127.0.0.2:0", respond("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npublic"))
	return public, listen(t, "127.0.0.1:"+public.port(), respond("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nprivate"))
}

var publicPrefix = netip.MustParsePrefix("127.0.0.2/32")

func TestOnlyPublicAddressesOfANameAreDialed(t *testing.T) {
	t.Parallel()
	public, private := listenPublicAndPrivate(t)
	resolver := dnsServer(t, fixedNames(map[string][]string{
		"first.test": {"127.0.0.1", "127.0.0.2"}, "last.test": {"127.0.0.2", "127.0.0.1"},
		"many.test": {"::1", "10.0.0.1", "127.0.0.1", "127.0.0.2"},
	}))
	s := sender.NewWithPublic(sender.Options{Resolver: resolver, AllowPrivate: true}, publicPrefix)
	for _, name := range []string{"first.test", "last.test", "many.test"} {
		if got := post(t, s, "http://"+name+":"+public.port()+"/"); !got.OK() || got.Response != "public" {
			t.Errorf("%s: got %+v, want the response of the public endpoint", name, got)
		}
	}
	if public.accepted.Load() != 3 || private.accepted.Load() != 0 {
		t.Errorf("got %d public and %d private connections, want 3 and 0", public.accepted.Load(), private.accepted.Load())
	}
}

// An attempt connects to the address that it checked, even if the DNS record changes in the meantime.
func TestDNSRebinding(t *testing.T) {
	t.Parallel()
	public, private := listenPublicAndPrivate(t)
	var queries atomic.Int32
	rebinding := dnsServer(t, func(name string) []netip.Addr {
		if name != "rebind.test" {
			return nil
		}
		// The first attempt makes two queries, one for each address family. A second lookup before the dial would
		// return the private address.
		if queries.Add(1) <= 2 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.2")}
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	})
	s := sender.NewWithPublic(sender.Options{Resolver: rebinding, AllowPrivate: true}, publicPrefix)
	url := "http://rebind.test.:" + public.port() + "/"
	if got := post(t, s, url); !got.OK() || got.Response != "public" {
		t.Errorf("before the change: got %+v, want the response of the public endpoint", got)
	}
	for range 3 {
		if got := post(t, s, url); got.Error != notPublic {
			t.Errorf("after the change: got %+v, want the error that the address is not public", got)
		}
	}
	if public.accepted.Load() != 1 || private.accepted.Load() != 0 {
		t.Errorf("got %d public and %d private connections, want 1 and 0", public.accepted.Load(), private.accepted.Load())
	}
}

// Redirects are not followed, because they could lead to a private address.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	private := listen(t, "127.0.0.1:0", respond("HTTP/1.1 200 OK\r\n\r\n"))
	for _, status := range []string{"301", "302", "303", "307", "308"} {
		redirecting := listen(t, "127.0.0.1:0", respond("HTTP/1.1 "+status+" Moved\r\n"+
			"Location: "+private.url()+"\r\nContent-Length: 4\r\n\r\ngone"))
		got := post(t, localSender(), redirecting.url())
		want := "the response is a redirect (" + status + "), and redirects are not followed"
		if got.Error != want || got.Response != "gone" {
			t.Errorf("%s: got %+v, want error %q", status, got, want)
		}
		if n := redirecting.accepted.Load(); n != 1 {
			t.Errorf("%s: got %d connections, want 1", status, n)
		}
	}
	if n := private.accepted.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	proxy := listen(t, "127.0.0.1:0", respond("HTTP/1.1 200 OK\r\n\r\n"))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://"+proxy.address)
	}
	resolver := dnsServer(t, fixedNames(nil)) // with a proxy, the sender would not resolve the name
	for _, url := range []string{"http://proxied.test/", "https://proxied.test/"} {
		got := post(t, sender.New(sender.Options{AllowPrivate: true, Resolver: resolver}), url)
		if got.Error != "the host name could not be resolved" || proxy.accepted.Load() != 0 {
			t.Errorf("%s: got %+v and %d connections to the proxy, want an error of the DNS lookup and none",
				url, got, proxy.accepted.Load())
		}
	}
}
