package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"devplatform/infra/bench/rig"
)

const (
	videoPath = "/video.mp4"
	videoSize = 25 << 20 // the maximum size of a file
	// exportTime is the assumed CPU time of an export, times 3.5, because its function has 3.5 times memoryMB.
	exportTime = 700 * time.Millisecond
)

// largeFiles returns the rows of uploads to one project, and of exports of another one.
func largeFiles(ctx context.Context, c *rig.Client, uploads, exports string) []*row {
	var announced announcement
	announce := func(int) (err error) {
		announced, err = announce(c, uploads, videoPath, videoSize)
		return err
	}
	return []*row{
		{name: "announce an upload of 25 MiB", do: announce},
		{name: "send and complete it", before: announce, do: func(int) error { return announced.send(ctx, c, uploads) }},
		{name: "read its URL, without the download", do: func(int) error { return c.Read(uploads, videoPath) }},
		{name: "export 100 small files", extra: exportTime, before: func(n int) error { // each state has one export
			return c.Save(exports, "/"+strconv.Itoa(n)+".ts", 1<<10)
		}, do: func(int) error { return c.Post("/api/projects/"+exports+"/exports", rig.Object{}) }},
	}
}

// announcement is the response to an announced upload, and the content that was announced.
type announcement struct {
	ID, URL string
	Headers map[string]string
	content []byte
}

// announce announces an upload of new content.
func announce(c *rig.Client, project, path string, size int) (a announcement, err error) {
	a.content = make([]byte, size)
	copy(a.content, rand.Text())
	received, err := c.Do(http.MethodPost, "/api/projects/"+project+"/uploads", rig.Object{
		"path": path, "size": size, "sha256": fmt.Sprintf("%x", sha256.Sum256(a.content)),
	})
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(received, &a); err != nil {
		return a, fmt.Errorf("announcement: %w", err)
	}
	return a, nil
}

// send sends the announced content, and completes the upload.
func (a announcement) send(ctx context.Context, c *rig.Client, project string) error {
	put, err := http.NewRequestWithContext(ctx, http.MethodPut, a.URL, bytes.NewReader(a.content))
	if err != nil {
		return fmt.Errorf("PUT: %w", err)
	}
	for name, value := range a.Headers {
		put.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(put)
	if err != nil {
		return fmt.Errorf("PUT: %w", err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("PUT: status %d", response.StatusCode)
	}
	return c.Post("/api/projects/"+project+"/uploads/"+a.ID+"/complete", nil)
}
