package rig

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
)

// Workshop is a connection of an account with projects of its own.
type Workshop struct {
	*Connection
	Account  *Account
	Projects []string
}

// NewWorkshop signs up, and makes n projects in a workspace of their own.
func NewWorkshop(ctx context.Context, base string, n int) (*Workshop, error) {
	a, err := SignUp(ctx, base)
	if err != nil {
		return nil, err
	}
	c, err := a.Dial(ctx)
	if err != nil {
		return nil, err
	}
	w := &Workshop{Connection: c, Account: a}
	for i := range n {
		id, err := w.Create("/api/projects", map[string]any{"name": "Project " + strconv.Itoa(i)})
		if err != nil {
			return nil, err
		}
		w.Projects = append(w.Projects, id)
	}
	return w, nil
}

// Create posts a thing and answers its id.
func (c *Connection) Create(path string, fields map[string]any) (string, error) {
	said, err := c.Do(http.MethodPost, path, Encode(fields))
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(said, &made); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return made.ID, nil
}

// Save writes a file of that many bytes, never the same ones twice.
func (c *Connection) Save(project, path string, size int) error {
	return c.Post("/api/projects/"+project+"/files", map[string]any{"path": path, "content": Source(size)})
}

// SaveNoise writes a binary file that nothing compresses.
func (c *Connection) SaveNoise(project, path string, size int) error {
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	return c.Post("/api/projects/"+project+"/files", map[string]any{
		"path": path, "content": base64.StdEncoding.EncodeToString(noise), "encoding": "base64",
	})
}

// Read gets a file with its content.
func (c *Connection) Read(project, path string) error {
	return c.Ask("/api/projects/" + project + "/files?path=" + url.QueryEscape(path))
}

// Batch runs operations on a project's files, all or none.
func (c *Connection) Batch(project string, operations ...map[string]any) error {
	return c.Post("/api/projects/"+project+"/files/batch", map[string]any{"operations": operations})
}

// MaxBatch is how many operations a batch takes.
const MaxBatch = 20

// Fill adds small files to a project that has so many, until it has as many as wanted.
func (c *Connection) Fill(project string, have, want int) error {
	for have < want {
		var operations []map[string]any
		for ; have < want && len(operations) < MaxBatch; have++ {
			operations = append(operations, map[string]any{
				"op": "create", "path": fmt.Sprintf("/src/folder%d/file%d.ts", have/50, have), "content": Source(200),
			})
		}
		if err := c.Batch(project, operations...); err != nil {
			return err
		}
	}
	return nil
}

var sources atomic.Int64

// vocabulary makes sources compress about as well as real ones.
var vocabulary = strings.Fields("const let return function import from export default if else for of => () {} ; useState className " +
	"items index value onChange event await fetch response json error null undefined true false string number div span button")

// Source is a text of that many bytes which looks like a program and is unlike every other.
func Source(size int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "// %d\n", sources.Add(1))
	for text.Len() < size {
		text.WriteString(vocabulary[rand.IntN(len(vocabulary))])
		text.WriteString(strconv.Itoa(rand.IntN(1000)))
		text.WriteByte(" \n"[rand.IntN(2)])
	}
	return text.String()[:size]
}
