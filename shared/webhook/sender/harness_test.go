package sender_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"devplatform/shared/webhook/sender"
)

// shortTimeout is long enough for a working endpoint on this machine, and short enough for a test to wait for.
const shortTimeout = 400 * time.Millisecond

// endpoint is a TCP server that can send arbitrary bytes. It counts its connections.
type endpoint struct {
	address  string
	accepted atomic.Int32
	closed   chan struct{} // receives a value when a connection has been handled
}

// listen serves each connection with serve, then closes it.
func listen(t testing.TB, address string, serve func(net.Conn)) *endpoint {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("this machine cannot listen on %s: %v", address, err)
	}
	e := &endpoint{address: listener.Addr().String(), closed: make(chan struct{}, 1000)}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			e.accepted.Add(1)
			running.Go(func() {
				serve(conn)
				_ = conn.Close()
				e.closed <- struct{}{}
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return e
}

func (e *endpoint) url() string { return "http://" + e.address + "/hook" }

func (e *endpoint) port() string {
	_, port, _ := net.SplitHostPort(e.address)
	return port
}

// respond reads the whole request and then sends bytes.
func respond(bytes string) func(net.Conn) {
	return func(conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, bytes)
	}
}

func readRequest(conn net.Conn) {
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err == nil {
		_, _ = io.Copy(io.Discard, request.Body)
	}
}

// waitForClose waits until the client closes the connection.
func waitForClose(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// localSender returns a sender that may connect to all addresses.
func localSender() *sender.Sender {
	return sender.New(sender.Options{AllowPrivate: true, Timeout: 10 * time.Second})
}

// shortTimeoutSender returns a localSender whose attempts time out after shortTimeout.
func shortTimeoutSender() *sender.Sender {
	return sender.New(sender.Options{AllowPrivate: true, Timeout: shortTimeout})
}

// post makes one attempt.
func post(t testing.TB, s *sender.Sender, url string) sender.Result {
	t.Helper()
	header := http.Header{"X-Service-Event": {"webhook.test"}}
	return s.Send(t.Context(), sender.Request{URL: url, Header: header, Body: []byte(`{"id":"evt_1"}`)})
}

// dnsServer starts a DNS server and returns its resolver. The server returns the addresses that lookup returns for a
// name. The name has no dot at its end.
func dnsServer(t testing.TB, lookup func(name string) []netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		for packet := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			if reply := resolve(packet[:n], lookup); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// fixedNames returns a lookup function for dnsServer that always returns the same addresses.
func fixedNames(addresses map[string][]string) func(string) []netip.Addr {
	return func(name string) []netip.Addr {
		var found []netip.Addr
		for _, address := range addresses[name] {
			found = append(found, netip.MustParseAddr(address))
		}
		return found
	}
}

// resolve returns the reply to a DNS query; nil if the packet is not a query with one question.
func resolve(packet []byte, lookup func(name string) []netip.Addr) []byte {
	var query dnsmessage.Message
	if query.Unpack(packet) != nil || len(query.Questions) != 1 {
		return nil
	}
	question := query.Questions[0]
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: query.ID, Response: true, RecursionAvailable: true, RecursionDesired: true},
		Questions: query.Questions,
	}
	header := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET} // TTL 0
	addresses := lookup(strings.ToLower(strings.TrimSuffix(question.Name.String(), ".")))
	if addresses == nil {
		reply.RCode = dnsmessage.RCodeNameError
	}
	for _, address := range addresses {
		switch {
		case question.Type == dnsmessage.TypeA && address.Is4():
			body := &dnsmessage.AResource{A: address.As4()}
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: body})
		case question.Type == dnsmessage.TypeAAAA && address.Is6():
			body := &dnsmessage.AAAAResource{AAAA: address.As16()}
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: body})
		}
	}
	packed, _ := reply.Pack()
	return packed
}
