// Package openai is the model provider for all servers with OpenAI's Chat Completions API: OpenAI, Azure, Ollama,
// vLLM, llama.cpp, LM Studio, OpenRouter and others. It contains the requests, the parsing of answers and errors, and
// the differences between these servers. Prompts and the use of answers do not belong here.
//
// The package does not use OpenAI's SDK, because the SDK links the types of all APIs of OpenAI: it adds 17 MB to the
// binary of a function, 2 ms to each cold start, and minutes to a build. It also reads errors without a limit, and
// treats "error": null as an error.
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
	"devplatform/shared/assistant/provider"
)

// Options select the server and the model. The package does not read the environment.
type Options struct {
	// BaseURL is the URL of the API, such as http://localhost:11434/v1. A URL without a path gets the path /v1. A
	// slash at the end is ignored. If BaseURL is empty, OpenAI is used.
	BaseURL string
	// Model is the server's name for the model.
	Model string
	// Key returns the API key. It is called for each answer and should cache the key. If it is nil or returns "", no
	// key is sent.
	Key func(context.Context) (string, error)
}

// Timeouts of a connection. Only the context limits the whole answer.
const (
	connectTimeout = 5 * time.Second
	// idleTimeout is shorter than the timeout of any NAT. The transport measures it with the wall clock. A function
	// that was frozen therefore does not use a connection that the server has already closed.
	idleTimeout = 30 * time.Second
)

// New returns a provider. The first call creates the client, and reports invalid options.
func New(o Options) model.Provider { return newClient(o, provider.DefaultWaits()) }

func newClient(o Options, w provider.Waits) *client {
	return &client{
		options: o, waits: w, server: sync.OnceValues(func() (*server, error) { return newServer(o.BaseURL) }),
	}
}

type client struct {
	options Options
	waits   provider.Waits
	server  func() (*server, error)
}

// Generate implements model.Provider.
func (c *client) Generate(ctx context.Context, r model.Request, emit func(model.Part) error) (model.Outcome, error) {
	a := newAnswer(c.options.Model, r, emit)
	key, err := c.key(ctx)
	if err == nil {
		err = c.generate(ctx, r, a, key)
	}
	switch failure, ok := errors.AsType[*model.Error](err); {
	case a.emitError != nil:
		return a.outcome, a.emitError
	case err == nil:
		return a.outcome, nil
	case ctx.Err() != nil:
		return a.outcome, ctx.Err()
	case ok:
		if text := provider.LogText(failure.Cause.Error(), key); text != failure.Cause.Error() {
			failure.Cause = errors.New(text)
		}
	}
	return a.outcome, err
}

// generate sends the request, with retries, and reads the answer into a. Its errors are *model.Errors.
func (c *client) generate(ctx context.Context, r model.Request, a *answer, key string) error {
	s, err := c.server()
	if err != nil {
		return &model.Error{Fault: model.Misconfigured, Cause: err}
	}
	call, cancel := context.WithCancel(ctx)
	defer cancel()
	var response *http.Response
	err = c.waits.Retry(call, func() (hasBegun bool, err error) {
		response, err = s.send(call, newBody(c.options.Model, r), key) //nolint:bodyclose // closed below
		return false, err
	})
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	return a.read(response, c.waits, cancel)
}

// key returns the API key, "" if there is none.
func (c *client) key(ctx context.Context) (string, error) {
	if c.options.Key == nil {
		return "", nil
	}
	key, err := c.options.Key(ctx)
	if err != nil {
		return "", &model.Error{Fault: model.Unavailable, Cause: fmt.Errorf("read the API key: %w", err)}
	}
	key = strings.TrimSpace(key)
	if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		err := errors.New("the API key contains characters that are not valid in a header")
		return "", &model.Error{Fault: model.Misconfigured, Cause: err}
	}
	return key, nil
}

// server is the API at one URL.
type server struct {
	client *http.Client
	url    string
	// useCompletionTokens reports whether requests send the token limit of an answer as max_completion_tokens.
	// Otherwise they send it as max_tokens.
	useCompletionTokens atomic.Bool
}

// newServer returns the API at a base URL. Its transport does not use a proxy from the environment.
func newServer(base string) (*server, error) {
	address, err := chatURL(base)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	s := &server{url: address.String(), client: &http.Client{
		// A redirect would turn the POST into a GET, or send the prompt and the key to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:         dialer.DialContext,
			TLSHandshakeTimeout: connectTimeout,
			IdleConnTimeout:     idleTimeout,
			MaxIdleConnsPerHost: 16,
			DisableCompression:  true, // compression would delay the stream
		},
	}}
	s.useCompletionTokens.Store(isOpenAI(address.Hostname()))
	return s, nil
}

// chatURL returns the URL of the chat completions endpoint for a base URL.
func chatURL(base string) (*url.URL, error) {
	if base == "" {
		base = "https://api.openai.com/v1"
	}
	address, err := url.Parse(base)
	if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
		// The text does not quote the URL, because it may contain a password.
		return nil, errors.New("the base URL is not an http or https URL")
	}
	path := strings.TrimRight(address.Path, "/")
	if path == "" {
		path = "/v1"
	}
	const completions = "/chat/completions"
	address.Path, address.RawPath, address.Fragment = strings.TrimSuffix(path, completions)+completions, "", ""
	return address, nil
}

// isOpenAI reports whether a host belongs to OpenAI or Azure, whose reasoning models accept only
// max_completion_tokens. Many compatible servers accept only max_tokens.
func isOpenAI(host string) bool {
	host = "." + strings.ToLower(host)
	return strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
}
