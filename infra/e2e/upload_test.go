package e2e

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"devplatform/infra/platformtest"
)

// uploadScript is the part of a page that uses the API. %s is the API's URL.
const uploadScript = `
const api = async (method, path, body) => {
	const response = await fetch('%s' + path, {
		method, credentials: 'include', body: body && JSON.stringify(body),
		headers: body ? {'Content-Type': 'application/json'} : {},
	})
	const result = await response.json()
	if (!response.ok) throw new Error(method + ' ' + path + ': ' + result.error)
	return result
}
const sha256 = async data => Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', data)),
	byte => byte.toString(16).padStart(2, '0')).join('')
const send = (upload, data) => fetch(upload.url, {
	method: upload.method, headers: upload.headers, body: new Blob([data], {type: 'video/mp4'}),
});
`

// uploadVideo signs up, uploads a video, downloads it, and returns whether it is the same.
const uploadVideo = `(async () => {
	const user = {email: 'page@example.com', password: 'correct horse battery'}
	await api('POST', '/api/auth/signup', {...user, username: 'page'})
	await api('POST', '/api/auth/login', user)
	const project = await api('POST', '/api/projects', {name: 'Video'})
	const video = new Uint8Array(25 * 1024 * 1024)
	for (let at = 0; at < video.length; at += 65536) crypto.getRandomValues(video.subarray(at, at + 65536))
	const hash = await sha256(video)
	const uploads = '/api/projects/' + project.id + '/uploads'
	const upload = await api('POST', uploads, {path: '/public/intro.mp4', size: video.length, sha256: hash})
	const stored = await send(upload, video)
	if (!stored.ok || !stored.headers.get('ETag')) throw new Error('PUT: ' + stored.status)
	const file = await api('POST', uploads + '/' + upload.id + '/complete')
	const read = await api('GET', '/api/projects/' + project.id + '/files?path=/public/intro.mp4')
	const download = await fetch(read.url)
	const received = await download.arrayBuffer()
	return [file.size, file.sha256 === hash, await sha256(received) === hash, download.headers.get('Content-Type')].join(' ')
})()`

// TestPageUploadsVideo uploads a video of 25 MiB with fetch, in Chromium, from a page on an allowed origin. A page on
// another origin can neither upload to a URL that it knows nor read a file.
func TestPageUploadsVideo(t *testing.T) {
	t.Parallel()
	chromium := platformtest.Required(t, "chromium")
	allowed, other := pageServer(t), pageServer(t)
	p := platformtest.Start(t, "ALLOWED_ORIGINS="+allowed)
	api := strings.Replace(p.URL, "127.0.0.1", "localhost", 1) // the same site as the page
	ctx := browser(t, chromium)
	run := func(origin, script string) (string, error) {
		if err := chromedp.Do(ctx, chromedp.Navigate(origin)); err != nil {
			t.Fatal(err)
		}
		wrapped := "{" + fmt.Sprintf(uploadScript, api) + script + "}"
		return chromedp.Run(ctx, chromedp.Evaluate[string](wrapped, chromedp.EvalAwaitPromise))
	}
	if got, err := run(allowed, uploadVideo); err != nil || got != "26214400 true true video/mp4" {
		t.Errorf("got %q, error %v, want the same video after the download", got, err)
	}

	c := platformtest.NewClient(t, p.URL)
	c.SignUp("ada")
	project := c.NewProject("App", nil)
	data := strings.Repeat("large", 1<<19)
	upload := announceUpload(c, project, "/large.txt", data)
	attempt := fmt.Sprintf(`send({url: %q, method: 'PUT', headers: {'If-None-Match': '*', 'X-Amz-Checksum-Sha256': %q}},
		new TextEncoder().encode('large'.repeat(1 << 19))).then(r => 'status ' + r.status, e => String(e))`,
		upload.url, upload.headers["X-Amz-Checksum-Sha256"])
	const refused = "TypeError: Failed to fetch"
	if got, err := run(other, attempt); err != nil || got != refused {
		t.Errorf("PUT from another origin: got %q, error %v, want %q", got, err, refused)
	}
	c.Do("POST", upload.path+"/complete", "").WantError(t, http.StatusConflict, "CONFLICT")
	if got, err := run(allowed, attempt); err != nil || got != "status 200" {
		t.Errorf("PUT from an allowed origin: got %q, error %v, want the status 200", got, err)
	}
	c.Do("POST", upload.path+"/complete", "").Want(t, http.StatusCreated)
	file := c.Do("GET", "/api/projects/"+project+"/files?path=/large.txt", "").Want(t, http.StatusOK)
	read := fmt.Sprintf(`fetch(%q).then(r => r.text()).then(t => String(t.length), e => String(e))`, file["url"])
	for origin, want := range map[string]string{allowed: fmt.Sprint(len(data)), other: refused} {
		if got, err := run(origin, read); err != nil || got != want {
			t.Errorf("GET from %s: got %q, error %v, want %q", origin, got, err, want)
		}
	}
}

// pageServer serves an empty page, until the test ends, and returns its origin.
func pageServer(t *testing.T) (origin string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>Page</title>"))
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// announcedUpload is an upload that was announced.
type announcedUpload struct {
	path, url string // path is the path of the upload in the API
	data      string
	headers   map[string]string
}

// put sends the content to the URL of the upload.
func (u announcedUpload) put(c *platformtest.Client) {
	c.T.Helper()
	var headers []string
	for name, value := range u.headers {
		headers = append(headers, name+": "+value)
	}
	if r := c.Do("PUT", u.url, u.data, headers...); r.Status != http.StatusOK {
		c.T.Fatalf("PUT: got %d %s, want 200", r.Status, r.Body)
	}
}

func announceUpload(c *platformtest.Client, project, path, data string) announcedUpload {
	c.T.Helper()
	uploads := "/api/projects/" + project + "/uploads"
	body := platformtest.Object{"path": path, "size": len(data), "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(data)))}
	fields := c.Do("POST", uploads, body.String()).Want(c.T, http.StatusCreated)
	u := announcedUpload{path: fmt.Sprint(uploads, "/", fields["id"]), data: data, headers: map[string]string{}}
	u.url, _ = fields["url"].(string)
	headers, _ := fields["headers"].(map[string]any)
	for name, value := range headers {
		u.headers[name] = fmt.Sprint(value)
	}
	return u
}
