package rig

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

// Account is a signed-in user of a running platform.
type Account struct {
	// Email and Password are what it logs in with; Cookie is the header of its session.
	Email, Password, Cookie string
	url                     string
}

var accounts atomic.Int64

// Newcomer is the body of a sign-up that has not been made before.
func Newcomer() (fields map[string]any, email, password string) {
	name := "bench" + strconv.FormatInt(accounts.Add(1), 10)
	email, password = name+"@example.com", "correct horse battery"
	return map[string]any{"email": email, "username": name, "password": password}, email, password
}

// SignUp makes an account and logs in to it.
func SignUp(ctx context.Context, base string) (*Account, error) {
	fields, email, password := Newcomer()
	a := &Account{Email: email, Password: password, url: base}
	for _, path := range []string{"/api/auth/signup", "/api/auth/login"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, bytes.NewReader(Encode(fields)))
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
				a.Cookie = c.Name + "=" + c.Value
			}
		}
	}
	return a, nil
}

// Connection is one kept-alive connection of an account. It is leaner than http.Client, because the load shares the
// cores with what it measures.
type Connection struct {
	conn   net.Conn
	reader *bufio.Reader
	head   string // the header fields of every request
	read   int    // bytes
}

// Dial opens a connection as this account.
func (a *Account) Dial(ctx context.Context) (*Connection, error) {
	at, err := url.Parse(a.url)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.Replace(at.Host, "localhost", "127.0.0.1", 1))
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	c := &Connection{conn: conn, head: " HTTP/1.1\r\nHost: " + at.Host + "\r\nCookie: " + a.Cookie + "\r\n"}
	c.reader = bufio.NewReader(counted{c})
	return c, nil
}

// counted reads from a connection and counts.
type counted struct{ c *Connection }

// Read passes bytes on.
func (r counted) Read(p []byte) (int, error) {
	n, err := r.c.conn.Read(p)
	r.c.read += n
	return n, err //nolint:wrapcheck // io.EOF must stay io.EOF
}

// Received answers how many bytes of answers, headers included, have come in since the last time.
func (c *Connection) Received() int {
	n := c.read
	c.read = 0
	return n
}

// Me sends GET /api/auth/me and reads its answer to the end.
func (c *Connection) Me() error { return c.Ask("/api/auth/me") }

// Ask gets something and forgets the answer.
func (c *Connection) Ask(path string) error {
	_, err := c.Do(http.MethodGet, path, nil)
	return err
}

// Post sends fields and forgets the answer.
func (c *Connection) Post(path string, fields map[string]any) error {
	_, err := c.Do(http.MethodPost, path, Encode(fields))
	return err
}

// Do sends a request, with a JSON body unless it is empty, and answers with the body of its success.
func (c *Connection) Do(method, path string, body []byte) ([]byte, error) {
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

// Close ends the connection.
func (c *Connection) Close() { _ = c.conn.Close() }

// Encode is a JSON object of texts, numbers and lists of them.
func Encode(fields map[string]any) []byte {
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err) // no other kind of value is put in
	}
	return data
}
