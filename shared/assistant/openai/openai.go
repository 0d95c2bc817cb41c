// Package openai is a model.Provider over any server that speaks OpenAI's Chat Completions API: OpenAI itself, Azure, Ollama, vLLM,
// llama.cpp, LM Studio, OpenRouter and the like. It knows how they say things, and where they say them differently from OpenAI;
// what is asked and what becomes of the answer is the business of package assistant.
//
// Of the vendor's SDK it uses the reader of event streams. The SDK's client links every type of every one of OpenAI's APIs: it makes
// a function's binary 17 MB larger, which breaks the 30 MB that one may have, each cold start some 2 ms longer, and a build minutes.
// It also reads errors without a bound, and takes "error": null for one. Requests and streams were held against it once, thousands of
// them made at random: they say, and come out as, the same.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"devplatform/shared/assistant/model"
)

// Options say whom to ask. Nothing else is read, the environment neither.
type Options struct {
	// BaseURL is where the API begins, such as http://localhost:11434/v1; a bare host gets its /v1, and a slash at the end does not
	// matter. Empty: OpenAI's own.
	BaseURL string
	// Model is the server's name for it.
	Model string
	// Key is asked at each call, so it should cache. Without it, or if it answers "", no key is sent, as Ollama wants it.
	Key func(context.Context) (string, error)
}

// Bounds of the connection. There is none on the whole answer: the context has it.
const (
	connectTimeout = 5 * time.Second
	// idleTimeout is less than any NAT on the way remembers. The transport goes by the wall clock here, so that a function that was
	// frozen does not wake up with a connection that is long dead.
	idleTimeout = 30 * time.Second
	// tailTimeout is how long a complete answer waits for what servers say behind it: usage and [DONE].
	tailTimeout = 3 * time.Second
	// drainTimeout is how long the end of the stream is waited for behind [DONE]. It is there at once, as a rule; a connection whose
	// answer was not read to it can't serve the next call.
	drainTimeout = 50 * time.Millisecond
)

// New makes the provider. It does nothing yet: the first call does, and tells of options that can't be used.
func New(o Options) model.Provider {
	return newProvider(o, pace{retry: firstWait, tail: tailTimeout})
}

func newProvider(o Options, w pace) *provider {
	return &provider{options: o, pace: w, connect: sync.OnceValues(func() (*server, error) { return newServer(o.BaseURL, w) })}
}

type provider struct {
	options Options
	pace    pace
	connect func() (*server, error)
}

// pace is how long is waited before the first retry, and behind an answer.
type pace struct{ retry, tail time.Duration }

// Generate implements model.Provider.
func (p *provider) Generate(ctx context.Context, r model.Request, emit func(model.Part) error) (model.Outcome, error) {
	a := newAnswer(p.options.Model, r, emit)
	key, err := p.ask(ctx, r, a)
	switch {
	case a.emitted != nil:
		return a.outcome, a.emitted
	case err == nil:
		return a.outcome, nil
	case ctx.Err() != nil:
		return a.outcome, ctx.Err() //nolint:wrapcheck // the caller's own word
	}
	return a.outcome, withoutKey(err, key)
}

// ask gets the answer. It returns the key as well, which no error may quote.
func (p *provider) ask(ctx context.Context, r model.Request, a *answer) (key string, err error) {
	s, err := p.connect()
	if err != nil {
		return "", &model.Error{Fault: model.Misconfigured, Cause: err}
	}
	if p.options.Key != nil {
		if key, err = p.options.Key(ctx); err != nil {
			return "", &model.Error{Fault: model.Unavailable, Cause: fmt.Errorf("key: %w", err)}
		}
		key = strings.TrimSpace(key)
		if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
			return "", &model.Error{Fault: model.Misconfigured, Cause: errors.New("the key has characters that no header can carry")}
		}
	}
	call, cancel := context.WithCancel(ctx)
	defer cancel() // before the body is closed, so that the server learns of it and no rest is read
	response, err := s.send(call, newBody(p.options.Model, r), key)
	if err != nil {
		return key, err
	}
	defer func() { _ = response.Body.Close() }()
	return key, a.read(response, p.pace.tail, func(wait time.Duration) *time.Timer { return time.AfterFunc(wait, cancel) })
}

// server is the API at one address.
type server struct {
	client *http.Client
	url    string
	pace   pace
	// completionTokens says by which of its two names the server takes the limit of an answer: see limitName.
	completionTokens atomic.Bool
}

// newServer makes the client. It reads no proxy from the environment either.
func newServer(base string, w pace) (*server, error) {
	address, err := endpoint(base)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	s := &server{url: address.String(), pace: w, client: &http.Client{
		// A redirect turns the POST into a GET, or takes prompt and key to somebody else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:         dialer.DialContext,
			TLSHandshakeTimeout: connectTimeout,
			IdleConnTimeout:     idleTimeout,
			MaxIdleConnsPerHost: 16,
			DisableCompression:  true, // a compressor on the way would hold the stream back
		},
	}}
	s.completionTokens.Store(isOpenAI(address.Hostname()))
	return s, nil
}

// endpoint is where chats are completed.
func endpoint(base string) (*url.URL, error) {
	if base == "" {
		base = "https://api.openai.com/v1"
	}
	address, err := url.Parse(base)
	if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
		return nil, errors.New("the base URL is not an http or https address") // not quoted: it may have a password
	}
	path := strings.TrimRight(address.Path, "/")
	if path == "" {
		path = "/v1"
	}
	address.Path, address.RawPath, address.Fragment = strings.TrimSuffix(path, "/chat/completions")+"/chat/completions", "", ""
	return address, nil
}

// isOpenAI tells servers whose reasoning models know max_completion_tokens only, OpenAI's and Azure's, from the compatible ones,
// many of which know max_tokens only.
func isOpenAI(host string) bool {
	host = "." + strings.ToLower(host)
	return strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
}
