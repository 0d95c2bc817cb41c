// Command receiver is a minimal endpoint for webhooks, to try them out on one machine. It verifies the signature of
// each request as shared/webhook/VERIFYING.md describes, and prints one line for each event.
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
	address := flag.String("address", "localhost:9123", "the address to listen on")
	secret := flag.String("secret", "", "the secret of the webhook")
	events := flag.Int("events", 0, "exit after this number of events; 0: run until Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, *address, *secret, *events, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "receiver:", err)
		os.Exit(1)
	}
}

// maxShutdown is the maximum time for which the receiver waits for requests in flight before it exits.
const maxShutdown = 10 * time.Second

// maxBody is the maximum number of bytes of a request body. Events are smaller.
const maxBody = 1 << 20

// serve responds to requests, and prints them to out, until ctx ends or the number of events was received. Then it
// waits until the requests in flight have their responses. The status is 204 if the signature of a request is valid,
// otherwise 401. If events is 0, serve responds until ctx ends.
func serve(ctx context.Context, address, secret string, events int, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var received atomic.Int64
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil || !verify(body, r.Header.Get("X-Service-Signature"), secret) {
			_, _ = fmt.Fprintf(out, "not signed with this secret: %s %s\n", r.Method, r.URL.Path)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(out, "%s %s\n", r.Header.Get("X-Service-Event"), body)
		w.WriteHeader(http.StatusNoContent)
		if int(received.Add(1)) == events {
			stop()
		}
	})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	_, _ = fmt.Fprintf(out, "listening at http://%s\n", listener.Addr())
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		shutdownCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxShutdown)
		defer cancel()
		ended <- server.Shutdown(shutdownCtx)
	}()
	if err := server.Serve(listener); ctx.Err() == nil {
		return fmt.Errorf("serve: %w", err)
	}
	if err := <-ended; err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	return nil
}

// verify reports whether signature is "sha256=" and the hex HMAC-SHA256 of the raw body with the secret.
func verify(body []byte, signature, secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hmac.Equal([]byte(signature), []byte("sha256="+hex.EncodeToString(mac.Sum(nil))))
}
