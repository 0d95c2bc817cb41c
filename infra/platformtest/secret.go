package platformtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// What must never be in a log, by what it is: all that the clients of this test binary have sent and been sent.
var secrets = struct {
	sync.Mutex
	what map[string]string
}{what: map[string]string{}}

// private are the fields of requests and answers that are nobody else's business.
var private = map[string]bool{
	"password": true, "currentPassword": true, "newPassword": true, "secret": true, // they open something
	"content": true, "message": true, "prompt": true, "body": true, "search": true, "replace": true, // they are what people write
}

// leastSecret is how short a secret can be without being found in anything: bytes.
const leastSecret = 12

// Secret says that a value must not be in the log of any platform; what it is, is said where it was found.
func Secret(what, value string) {
	if len(value) < leastSecret {
		return
	}
	secrets.Lock()
	defer secrets.Unlock()
	secrets.what[value] = what
}

// Secrets are the kinds of what has been declared a secret so far.
func Secrets() []string {
	secrets.Lock()
	defer secrets.Unlock()
	var kinds []string
	for _, what := range secrets.what {
		kinds = append(kinds, what)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// leaks are the secrets that stand in a log, by what they are.
func leaks(log string) (found []string) {
	secrets.Lock()
	defer secrets.Unlock()
	for value, what := range secrets.what {
		if at := strings.Index(log, value); at >= 0 {
			line := log[strings.LastIndexByte(log[:at], '\n')+1:]
			line, _, _ = strings.Cut(line, "\n")
			found = append(found, fmt.Sprintf("%s: %.300s", what, line))
		}
	}
	return found
}

// noteBody declares secret what is private in a JSON text. Of an answer that is what opens something: the rest it may have from a log's reader.
func noteBody(text []byte) {
	var value any
	if json.Unmarshal(text, &value) == nil { // else it is no JSON, on purpose
		eachText(value, func(name, text string) {
			if private[name] {
				Secret(name, text)
			}
		})
	}
}

// eachText visits every string of a JSON value, with the name of the field that it is, if it is one.
func eachText(value any, visit func(name, text string)) {
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

// noteHeader declares secret what a session or a sign-in is known by.
func noteHeader(h http.Header) {
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

// noteEnv declares secret what settings say of keys.
func noteEnv(env []string) {
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		if strings.HasSuffix(name, "_SECRET") || strings.HasSuffix(name, "_KEY") {
			Secret(name, value)
		}
	}
}

// noteKeys declares secret what a platform's Secrets Manager holds.
func noteKeys(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "secrets", "*.json"))
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // the test's own folder
		if err != nil {
			continue // a platform that was refused its folder
		}
		noteStored(data)
	}
}

// noteStored finds the strings of a JSON text, and those of the JSON texts among them: a key ring is one inside of another.
func noteStored(data []byte) {
	var value any
	if json.Unmarshal(data, &value) != nil {
		return
	}
	eachText(value, func(_, text string) {
		if strings.HasPrefix(text, "{") {
			noteStored([]byte(text))
		} else if len(text) >= 32 && !strings.HasPrefix(text, "arn:") {
			Secret("stored secret", text)
		}
	})
}
