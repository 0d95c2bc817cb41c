// Package rig contains a client of the API for measurements: accounts, connections that use little CPU time, and the
// requests that the benchmarks and the calculation of costs share. It does not depend on the measurements.
package rig

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Settings are the settings of a platform without the limits that measurements would reach.
var Settings = []string{
	"LIMIT_LOGIN_IP=1000000", "LIMIT_SIGNUP_IP=1000000", "LIMIT_OAUTH_IP=1000000",
	"LIMIT_AI_MINUTE=1000000", "AI_MONTHLY_TOKENS=1000000000000",
	"LIMIT_AI_IN_PROGRESS=1000000", "AI_GLOBAL_MONTHLY_TOKENS=1000000000000", "LIMIT_OLD_VERSIONS_MIB=1000000",
	"LIMIT_WRITTEN_MIB_DAY=1000000", "LIMIT_EXPORTS_HOUR=1000000",
	"LIMIT_DEPLOYMENTS_MINUTE=1000000", "LIMIT_DEPLOYMENTS_DAY=1000000", "LIMIT_INVITATIONS_DAY=1000000",
}

// Object is a JSON object.
type Object = map[string]any

// Client is a connection of an account with a session. It is leaner than http.Client, because the load shares the cores
// with the measured platform. One goroutine at a time can use it. Its connection ends with the platform.
type Client struct {
	Email, Password string
	Cookie          string // the header with the session
	Received        int    // the number of bytes of the bodies of all responses

	host     string
	encoding string // of responses, "" for no header
	conn     net.Conn
	reader   *bufio.Reader
}

// accounts is the number of users that NewUser has named.
var accounts atomic.Int64

// NewUser returns the fields of a sign-up with a new name.
func NewUser() Object {
	name := fmt.Sprintf("bench%05d", accounts.Add(1))
	return Object{"email": name + "@example.com", "username": name, "password": "correct horse battery"}
}

// SignUp creates an account, and returns a connection with its session.
func SignUp(ctx context.Context, base string) (*Client, error) {
	at, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	user := NewUser()
	c, err := Client{Email: user["email"].(string), Password: user["password"].(string), host: at.Host}.Dial(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.Post("/api/auth/signup", user); err != nil {
		return nil, err
	}
	return c, c.Post("/api/auth/login", Object{"email": c.Email, "password": c.Password})
}

// Visit returns a connection to a site, without a session. encoding is the value of the header Accept-Encoding.
func Visit(ctx context.Context, siteURL, encoding string) (*Client, error) {
	at, err := url.Parse(siteURL)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	return Client{host: at.Host, encoding: encoding}.Dial(ctx)
}

// Dial opens another connection with the same session.
func (c Client) Dial(ctx context.Context) (_ *Client, err error) {
	address := c.host
	if name, port, err := net.SplitHostPort(c.host); err == nil && strings.HasSuffix(name, "localhost") {
		address = net.JoinHostPort("127.0.0.1", port) // not every resolver knows names below localhost
	}
	if c.conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", address); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	c.reader = bufio.NewReader(c.conn)
	return &c, nil
}

// Do sends a request, with a JSON body unless it is nil, and returns the body of the response. A status from 400 is an
// error. A response that sets a session replaces the client's.
func (c *Client) Do(method, path string, fields Object) ([]byte, error) {
	request := method + " " + path + " HTTP/1.1\r\nHost: " + c.host + "\r\nCookie: " + c.Cookie + "\r\n"
	if c.encoding != "" {
		request += "Accept-Encoding: " + c.encoding + "\r\n"
	}
	var body []byte
	if fields != nil {
		body = Encode(fields)
		request += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	if _, err := c.conn.Write(append([]byte(request+"\r\n"), body...)); err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	received, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	c.Received += len(received)
	if response.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, received)
	}
	for _, cookie := range response.Cookies() {
		if cookie.Name == "__Host-session" {
			c.Cookie = cookie.Name + "=" + cookie.Value
		}
	}
	return received, nil
}

// Get sends a GET request.
func (c *Client) Get(path string) error {
	_, err := c.Do(http.MethodGet, path, nil)
	return err
}

// Post sends a POST request.
func (c *Client) Post(path string, fields Object) error {
	_, err := c.Do(http.MethodPost, path, fields)
	return err
}

// Create sends a POST request, and returns the ID in the response.
func (c *Client) Create(path string, fields Object) (string, error) {
	received, err := c.Do(http.MethodPost, path, fields)
	if err != nil {
		return "", err
	}
	var created struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(received, &created); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return created.ID, nil
}

// Projects creates projects and returns their IDs.
func (c *Client) Projects(n int) (ids []string, err error) {
	for i := range n {
		id, err := c.Create("/api/projects", Object{"name": "Project " + strconv.Itoa(i)})
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Save writes a file of that size with new contents.
func (c *Client) Save(project, path string, size int) error {
	return c.Post("/api/projects/"+project+"/files", Object{"path": path, "content": Source(size)})
}

// Read reads a file with its content.
func (c *Client) Read(project, path string) error {
	return c.Get("/api/projects/" + project + "/files?path=" + url.QueryEscape(path))
}

// MaxBatch is the maximum number of operations in a batch.
const MaxBatch = 20

// Batch performs an operation ("create", "update") on new contents of that size for each path.
func (c *Client) Batch(project, op string, size int, paths ...string) error {
	operations := make([]Object, len(paths))
	for i, path := range paths {
		operations[i] = Object{"op": op, "path": path, "content": Source(size)}
	}
	return c.Post("/api/projects/"+project+"/files/batch", Object{"operations": operations})
}

// FillStatic creates n HTML files in a project, with a batch for each MaxBatch of them. The home page has homeSize
// bytes, the others have 1 KiB.
func (c *Client) FillStatic(project string, n, homeSize int) error {
	var operations []Object
	for i := range n {
		path, size := "/"+strconv.Itoa(i)+".html", 1<<10
		if i == 0 {
			path, size = "/index.html", homeSize
		}
		content := "<!doctype html><title>" + path + "</title><pre>" + strings.Repeat("page ", size/5)
		operations = append(operations, Object{"op": "create", "path": path, "content": content[:size]})
		if len(operations) == MaxBatch || i == n-1 {
			if err := c.Post("/api/projects/"+project+"/files/batch", Object{"operations": operations}); err != nil {
				return err
			}
			operations = nil
		}
	}
	return nil
}

// Fill creates n small files in an empty project.
func (c *Client) Fill(project string, n int) error {
	for made := 0; made < n; {
		var paths []string
		for ; made < n && len(paths) < MaxBatch; made++ {
			paths = append(paths, fmt.Sprintf("/src/folder%d/file%d.ts", made/50, made))
		}
		if err := c.Batch(project, "create", 200, paths...); err != nil {
			return err
		}
	}
	return nil
}

// Encode returns the JSON of an object that contains only values that have one.
func Encode(fields Object) []byte {
	var data bytes.Buffer
	if err := json.NewEncoder(&data).Encode(fields); err != nil {
		panic(err)
	}
	return data.Bytes()
}

// random generates the same contents in each run, so that they are compressed to the same sizes.
var random = struct {
	sync.Mutex
	*rand.ChaCha8
	sources int
}{ChaCha8: rand.NewChaCha8([32]byte{1})}

// vocabulary makes sources compress about as well as real ones.
var vocabulary = strings.Fields("const let return function import from export default if else for of => () {} ; " +
	"useState className items index value onChange event await fetch response json error null undefined true false " +
	"string number div span button")

// Source returns a text of that size that resembles a program. All sources are different.
func Source(size int) string {
	random.Lock()
	defer random.Unlock()
	random.sources++
	var text strings.Builder
	fmt.Fprintf(&text, "// %07d\n", random.sources)
	for text.Len() < size {
		n := random.Uint64()
		text.WriteString(vocabulary[n%uint64(len(vocabulary))])
		text.WriteString(strconv.FormatUint(n>>16%1000, 10))
		text.WriteByte(" \n"[n>>40&1])
	}
	return text.String()[:size]
}
