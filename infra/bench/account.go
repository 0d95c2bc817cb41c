package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
)

// account is a signed-in user of a running platform.
type account struct {
	url    string
	cookie string
}

var accounts atomic.Int64

// signUp makes an account and logs in to it.
func signUp(ctx context.Context, base string) (*account, error) {
	name := "bench" + strconv.FormatInt(accounts.Add(1), 10)
	fields, err := json.Marshal(map[string]string{"email": name + "@example.com", "username": name, "password": "correct horse battery"})
	if err != nil {
		return nil, fmt.Errorf("sign up: %w", err)
	}
	var cookie string
	for _, path := range []string{"/api/auth/signup", "/api/auth/login"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, bytes.NewReader(fields))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		said, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode >= http.StatusBadRequest {
			return nil, fmt.Errorf("%s: %s: %s", path, response.Status, said)
		}
		for _, c := range response.Cookies() {
			if c.Name == "__Host-session" {
				cookie = c.Name + "=" + c.Value
			}
		}
	}
	return &account{url: base, cookie: cookie}, nil
}

// me reads the account once.
func (a *account) me(ctx context.Context) error {
	c, err := a.dial(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	return c.get()
}

// connection is one kept-alive connection of an account. It is leaner than http.Client, because the load shares the
// cores with what it measures.
type connection struct {
	conn   net.Conn
	reader *bufio.Reader
	head   string // the header fields of every request
}

// dial opens a connection as this account.
func (a *account) dial(ctx context.Context) (*connection, error) {
	at, err := url.Parse(a.url)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.Replace(at.Host, "localhost", "127.0.0.1", 1))
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	head := " HTTP/1.1\r\nHost: " + at.Host + "\r\nCookie: " + a.cookie + "\r\n"
	return &connection{conn: conn, reader: bufio.NewReader(conn), head: head}, nil
}

// get sends GET /api/auth/me and reads its answer to the end.
func (c *connection) get() error {
	_, err := c.do(http.MethodGet, "/api/auth/me", nil)
	return err
}

// do sends a request, with a JSON body unless it is empty, and answers with the body of its success.
func (c *connection) do(method, path string, body []byte) ([]byte, error) {
	request := method + " " + path + c.head
	if len(body) > 0 {
		request += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	if _, err := c.conn.Write(append([]byte(request+"\r\n"), body...)); err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	said, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, said)
	}
	return said, nil
}

func (c *connection) close() { _ = c.conn.Close() }
