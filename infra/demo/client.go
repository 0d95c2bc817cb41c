package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync/atomic"
	"time"
)

// object is a JSON object that is sent.
type object map[string]any

// call is one request, and what it is to come to.
type call struct {
	method, path string
	note         string // said behind the path: what is special about this request
	header       [2]string
	body         object
	want         int  // the status
	into         any  // what a JSON answer is decoded into
	quiet        bool // not shown: a question asked again while waiting
}

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// refusal is the shape of every error of the API.
type refusal struct{ Error, Code string }

// client is a user agent with its own cookies. It shows what it sends and what comes back.
type client struct {
	screen   *screen
	base     string
	http     *http.Client
	requests atomic.Int64
}

// answerTime is how long a call may take: a model thinks for two minutes at most.
const answerTime = 150 * time.Second

func newClient(screen *screen, base string) (*client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("cookies: %w", err)
	}
	return &client{screen: screen, base: base, http: &http.Client{
		Jar: jar, Timeout: answerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// open sends a request and answers when the response begins, and how long that took.
func (c *client) open(ctx context.Context, call call) (*http.Response, time.Duration, error) {
	var body io.Reader
	if call.body != nil {
		data, err := json.Marshal(call.body)
		if err != nil {
			return nil, 0, fmt.Errorf("%s %s: %w", call.method, call.path, err)
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, call.method, c.base+call.path, body)
	if err != nil {
		return nil, 0, fmt.Errorf("%s %s: %w", call.method, call.path, err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if call.header[0] != "" {
		request.Header.Set(call.header[0], call.header[1])
	}
	c.requests.Add(1)
	begin := now()
	response, err := c.http.Do(request)
	var transport *url.Error // which says again what the request was
	if errors.As(err, &transport) {
		err = transport.Err
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s %s: %w", call.method, call.path, err)
	}
	return response, now().Sub(begin), nil
}

// do sends a request and reads the answer; a status that was not wanted is an error that says what the platform said.
func (c *client) do(ctx context.Context, call call) (answer, error) {
	if !call.quiet {
		c.screen.request(call.method, call.path, call.note)
	}
	begin := now()
	response, _, err := c.open(ctx, call)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if !call.quiet {
		c.screen.answered(response.StatusCode, now().Sub(begin))
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", call.method, call.path, err)
	}
	a := answer{status: response.StatusCode, header: response.Header, body: body}
	return a, a.check(call)
}

// check holds an answer against what was wanted, and decodes it.
func (a answer) check(call call) error {
	if a.status != call.want {
		var said refusal
		_ = json.Unmarshal(a.body, &said) // what is no error of the API has nothing to say
		return &unwanted{call: call, status: a.status, refusal: said}
	}
	if call.into == nil {
		return nil
	}
	if err := json.Unmarshal(a.body, call.into); err != nil {
		return fmt.Errorf("%s %s returned an unexpected body: %w", call.method, call.path, err)
	}
	return nil
}

// unwanted is an answer with another status than the story has.
type unwanted struct {
	call   call
	status int
	refusal
}

func (u *unwanted) Error() string {
	return fmt.Sprintf("%s %s returned status %d, want %d: %s %s", u.call.method, u.call.path, u.status, u.call.want, u.Code, u.refusal.Error)
}
