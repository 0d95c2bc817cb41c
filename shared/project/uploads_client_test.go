package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"devplatform/shared/db"
	"devplatform/shared/project/content"
)

// announced is the response to an announcement, with the content to upload.
type announced struct {
	client  filesClient
	data    []byte
	ID      string            `json:"id"`
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
	Expires string            `json:"expiresAt"`
}

// tryAnnounce sends the announcement of an upload. changes replaces fields of the request.
func (client filesClient) tryAnnounce(path string, data []byte, changes object) response {
	client.f.t.Helper()
	body := object{"path": path, "size": len(data), "sha256": hexSum(data)}
	for name, value := range changes {
		body[name] = value
	}
	return client.Do(http.MethodPost, projectURL(client.projectID)+"/uploads", body)
}

// announce announces an upload.
func (client filesClient) announce(path string, data []byte, changes object) announced {
	client.f.t.Helper()
	return client.announcedOf(client.tryAnnounce(path, data, changes).Want(client.f.t, http.StatusCreated), data)
}

// announcedOf decodes the response to an announcement.
func (client filesClient) announcedOf(r response, data []byte) announced {
	client.f.t.Helper()
	a := announced{client: client, data: data}
	if err := json.Unmarshal([]byte(r.Raw), &a); err != nil {
		client.f.t.Fatal(err)
	}
	return a
}

// put sends the content to the URL, after change has changed the request, and returns the status.
func (a announced) put(change func(*http.Request)) int {
	t := a.client.f.t
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), a.Method, a.URL, bytes.NewReader(a.data))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range a.Headers {
		r.Header.Set(name, value)
	}
	if change != nil {
		change(r)
	}
	return send(t, r).Status
}

// send sends a request to S3.
func send(t *testing.T, r *http.Request) response {
	t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{Status: res.StatusCode, Header: res.Header, Raw: string(data)}
}

// complete sends the request that completes the upload.
func (a announced) complete(change ...func(*http.Request)) response {
	a.client.f.t.Helper()
	return a.client.Do(http.MethodPost, projectURL(a.client.projectID)+"/uploads/"+a.ID+"/complete", nil, change...)
}

// upload announces, uploads and completes a file, and returns the last response.
func (client filesClient) upload(path string, data []byte, changes object) response {
	client.f.t.Helper()
	a := client.announce(path, data, changes)
	if status := a.put(nil); status != http.StatusOK {
		client.f.t.Fatalf("PUT %s: got %d, want 200", path, status)
	}
	return a.complete()
}

// download downloads the content from the URL of a large file.
func (client filesClient) download(item map[string]any) response {
	client.f.t.Helper()
	url, _ := item["url"].(string)
	if url == "" || item["content"] != nil {
		client.f.t.Fatalf("got the file %v, want one with a url and without content", item)
	}
	r, err := http.NewRequestWithContext(client.f.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		client.f.t.Fatal(err)
	}
	return send(client.f.t, r).Want(client.f.t, http.StatusOK)
}

// written returns the number of bytes that all users have written on the days that have a counter.
func (f *fixture) written() (n int) {
	f.t.Helper()
	for key, item := range f.dump(f.tableNames.projects) {
		if len(key.PK) < 12 || key.PK[:12] != "RATE#written" {
			continue
		}
		counter, err := db.Decode[struct {
			Hits int `dynamodbav:"hits"`
		}](item)
		if err != nil {
			f.t.Fatal(err)
		}
		n += counter.Hits
	}
	return n
}

// wantTree checks the counters of the tree, and the number of written bytes.
func (client filesClient) wantTree(what string, bytes, uploads, written int) {
	client.f.t.Helper()
	tree := client.tree()
	got, want := fmt.Sprint(tree.Bytes, tree.Uploads, client.f.written()), fmt.Sprint(bytes, uploads, written)
	if got != want {
		client.f.t.Errorf("%s: got the bytes, open uploads and written bytes %s, want %s", what, got, want)
	}
}

// uploadKeys returns the keys of the objects of all announced uploads, by the upload's ID.
func (client filesClient) uploadKeys() map[string]string {
	client.f.t.Helper()
	prefix := db.UploadsOf(client.projectID)
	items, err := client.f.projects.QueryAll(client.f.t.Context(), prefix)
	if err != nil {
		client.f.t.Fatal(err)
	}
	keys := map[string]string{}
	for _, item := range items {
		u, err := db.Decode[struct {
			ContentID string `dynamodbav:"contentId"`
		}](item)
		if err != nil {
			client.f.t.Fatal(err)
		}
		keys[prefix.Rest(db.KeyOf(item))] = content.Ref{ContentID: u.ContentID}.ObjectKey(client.projectID)
	}
	return keys
}
