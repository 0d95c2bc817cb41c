// Command receiver is a receiver of webhooks, to try them out on one machine. It checks the signature of each request and
// prints one line per event. It is also a short example of a subscriber: it uses only what shared/webhook/VERIFYING.md
// describes.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"time"
)

func main() {
	address := flag.String("address", "localhost:9123", "where to listen")
	secret := flag.String("secret", "", "the webhook's secret")
	events := flag.Int("events", 0, "end after so many events; 0: at Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, *address, *secret, *events, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "receiver:", err)
		os.Exit(1)
	}
}

// maxBody is more than any event has.
const maxBody = 1 << 20

// serve answers 204 to what is signed with the secret and 401 to everything else, until ctx ends or enough has come.
func serve(ctx context.Context, address, secret string, events int, out io.Writer) error {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	var seen atomic.Int64
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil || !signed(body, r.Header.Get("X-Service-Signature"), secret) {
			_, _ = fmt.Fprintf(out, "not signed with this secret: %s %s\n", r.Method, r.URL.Path)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(out, "%s %s\n", r.Header.Get("X-Service-Event"), body)
		w.WriteHeader(http.StatusNoContent)
		if int(seen.Add(1)) == events {
			enough()
		}
	})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	_, _ = fmt.Fprintf(out, "listening at http://%s\n", listener.Addr())
	go func() {
		<-ctx.Done()
		rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(rest)
	}()
	if err := server.Serve(listener); ctx.Err() == nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// signed reports whether a signature is sha256= and the hex HMAC-SHA256 of the raw body under the secret.
func signed(body []byte, signature, secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hmac.Equal([]byte(signature), []byte("sha256="+hex.EncodeToString(mac.Sum(nil))))
}
