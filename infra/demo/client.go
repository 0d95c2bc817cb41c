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

// object is a JSON object.
type object map[string]any

// call is a request and the expected response.
type call struct {
	method, path string
	note         string // shown after the path
	match        string // the header If-Match
	body         object
	want         int  // the status of the response, or 0 for any that means success
	into         any  // receives the JSON of the response
	quiet        bool // not shown
}

// refusal is an error of the API.
type refusal struct{ Error, Code string }

// client sends requests with its own cookies, and shows them.
type client struct {
	screen   *screen
	base     string
	http     *http.Client
	requests atomic.Int64
}

func newClient(screen *screen, base string) (*client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("cookies: %w", err)
	}
	return &client{screen: screen, base: base, http: &http.Client{Jar: jar, Timeout: 150 * time.Second}}, nil
}

// open sends a request, shows it when the response begins, and returns the response if it has the expected status.
func (c *client) open(ctx context.Context, call call) (*http.Response, error) {
	var body io.Reader
	if call.body != nil {
		data, err := json.Marshal(call.body)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", call.method, call.path, err)
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, call.method, c.base+call.path, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", call.method, call.path, err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if call.match != "" {
		request.Header.Set("If-Match", call.match)
	}
	c.requests.Add(1)
	begin := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		var transport *url.Error // it repeats the method and the URL
		if errors.As(err, &transport) {
			err = transport.Err
		}
		return nil, fmt.Errorf("%s %s: %w", call.method, call.path, err)
	}
	if !call.quiet {
		c.screen.columns("  ", dim, call.method+" "+call.path, call.note, response.StatusCode, time.Since(begin))
	}
	if response.StatusCode == call.want || call.want == 0 && response.StatusCode/100 == 2 {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	unexpected := &unexpectedError{call: call, status: response.StatusCode}
	_ = json.NewDecoder(response.Body).Decode(&unexpected.refusal) // another program's response has no such fields
	return nil, unexpected
}

// do sends a request and decodes the response. It returns the header of the response.
func (c *client) do(ctx context.Context, call call) (http.Header, error) {
	response, err := c.open(ctx, call)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if call.into != nil {
		if err := json.NewDecoder(response.Body).Decode(call.into); err != nil {
			return nil, fmt.Errorf("%s %s returned an unexpected body: %w", call.method, call.path, err)
		}
	}
	return response.Header, nil
}

// unexpectedError is a response with another status than the story expects.
type unexpectedError struct {
	call   call
	status int
	refusal
}

func (u *unexpectedError) Error() string {
	return fmt.Sprintf("%s %s returned status %d: %s %s", u.call.method, u.call.path, u.status, u.Code, u.refusal.Error)
}

// get, post and remove send requests that must succeed.
func (s *story) get(ctx context.Context, path string, into any) error {
	_, err := s.client.do(ctx, call{method: http.MethodGet, path: path, into: into})
	return err
}

func (s *story) post(ctx context.Context, path string, body object, into any) error {
	_, err := s.client.do(ctx, call{method: http.MethodPost, path: path, body: body, into: into})
	return err
}

func (s *story) remove(ctx context.Context, path string) error {
	_, err := s.client.do(ctx, call{method: http.MethodDelete, path: path})
	return err
}

// refuse sends a request that the platform must reject, and shows the error.
func (s *story) refuse(ctx context.Context, call call) error {
	var received refusal
	call.into = &received
	if _, err := s.client.do(ctx, call); err != nil {
		return err
	}
	s.screen.remark("%s %s", received.Code, received.Error)
	return nil
}
