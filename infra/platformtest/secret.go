package platformtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"devplatform/infra/local/datafolder"
)

// secrets contains the values that must not appear in the log of any platform. A Client adds the secrets that it finds
// in its requests and responses.
var secrets = struct {
	sync.Mutex
	kinds map[string]string // by value
}{kinds: map[string]string{}}

// privateFields contains the names of the request fields whose values must not be logged.
var privateFields = map[string]bool{
	// Credentials.
	"password": true, "currentPassword": true, "newPassword": true, "secret": true,
	// Texts that users write. "value" is the value of a project's variable.
	"value": true, "content": true, "message": true, "prompt": true, "body": true, "search": true, "replace": true,
}

// minSecret is the minimum length of a secret in bytes. A shorter text could appear in the log by coincidence.
const minSecret = 12

// Secret adds a value that must not appear in the log of any platform. kind describes it in the error of the test.
// Values of less than 12 bytes are ignored.
func Secret(kind, value string) {
	if len(value) < minSecret {
		return
	}
	secrets.Lock()
	defer secrets.Unlock()
	secrets.kinds[value] = kind
}

// Secrets returns the kinds of the secrets that were added so far, sorted.
func Secrets() []string {
	secrets.Lock()
	defer secrets.Unlock()
	kinds := slices.Sorted(maps.Values(secrets.kinds))
	return slices.Compact(kinds)
}

// leaks returns the kind of each secret in a log, with the line that contains it.
func leaks(log string) (found []string) {
	secrets.Lock()
	defer secrets.Unlock()
	for value, kind := range secrets.kinds {
		if at := strings.Index(log, value); at >= 0 {
			line := log[strings.LastIndexByte(log[:at], '\n')+1:]
			line, _, _ = strings.Cut(line, "\n")
			found = append(found, fmt.Sprintf("%s: %.300s", kind, line))
		}
	}
	return found
}

// addBodySecrets adds the private fields of a request body. It ignores a body that is not valid JSON.
func addBodySecrets(body []byte) {
	var value any
	if json.Unmarshal(body, &value) != nil {
		return
	}
	forEachString(value, func(name, text string) {
		if privateFields[name] {
			Secret(name, text)
		}
	})
}

// forEachString calls visit for each string in a JSON value. name is the name of the field that contains the string, or
// "" for an element of a list.
func forEachString(value any, visit func(name, text string)) {
	var walk func(name string, value any)
	walk = func(name string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, field := range value {
				walk(name, field)
			}
		case []any:
			for _, element := range value {
				walk("", element)
			}
		case string:
			visit(name, value)
		}
	}
	walk("", value)
}

// addHeaderSecrets adds the cookies that a response sets, and the code and the state in its Location.
func addHeaderSecrets(h http.Header) {
	for _, line := range h.Values("Set-Cookie") {
		if cookie, err := http.ParseSetCookie(line); err == nil {
			Secret("cookie "+strings.TrimPrefix(cookie.Name, "__Host-"), cookie.Value)
		}
	}
	if location, err := url.Parse(h.Get("Location")); err == nil {
		for _, name := range []string{"code", "state"} {
			Secret("sign-in "+name, location.Query().Get(name))
		}
	}
}

// addEnvSecrets adds the values of the environment variables that contain secrets.
func addEnvSecrets(env []string) {
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		if strings.HasSuffix(name, "_SECRET") || strings.HasSuffix(name, "_KEY") {
			Secret(name, value)
		}
	}
}

// addStoredSecrets adds the secrets that the Secrets Manager of a platform, which has ended, stored in its data folder.
func addStoredSecrets(dir string) {
	folder, err := datafolder.Open(datafolder.Options{Dir: filepath.Join(dir, "data")})
	if err != nil {
		return // the platform could not open it either
	}
	stored, _ := datafolder.Read(folder.DB, []byte{datafolder.SpaceSecret})
	_ = folder.Close()
	addJSONSecrets(stored)
}

// addJSONSecrets adds those strings of a JSON text that can be keys. It also searches strings that contain a JSON
// object, because a key ring is stored in this form.
func addJSONSecrets(data []byte) {
	var value any
	if json.Unmarshal(data, &value) != nil {
		return
	}
	forEachString(value, func(_, text string) {
		if strings.HasPrefix(text, "{") {
			addJSONSecrets([]byte(text))
		} else if len(text) >= 32 && !strings.HasPrefix(text, "arn:") {
			Secret("stored secret", text)
		}
	})
}
