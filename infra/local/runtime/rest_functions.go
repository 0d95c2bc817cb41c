package runtime

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"
)

// pageSize is the most functions that a page of ListFunctions has on AWS.
const pageSize = 50

// configuration is AWS's FunctionConfiguration, as far as it is known here.
type configuration struct {
	FunctionName     string            `json:"FunctionName"`
	FunctionArn      string            `json:"FunctionArn"`
	Runtime          string            `json:"Runtime"`
	Role             string            `json:"Role"`
	Handler          string            `json:"Handler"`
	CodeSize         int64             `json:"CodeSize"`
	Description      string            `json:"Description"`
	Timeout          int               `json:"Timeout"`
	MemorySize       int               `json:"MemorySize"`
	LastModified     string            `json:"LastModified"`
	CodeSha256       string            `json:"CodeSha256"`
	Version          string            `json:"Version"`
	Environment      *environment      `json:"Environment,omitempty"`
	TracingConfig    map[string]string `json:"TracingConfig"`
	State            string            `json:"State"`
	LastUpdateStatus string            `json:"LastUpdateStatus"`
	PackageType      string            `json:"PackageType"`
	Architectures    []string          `json:"Architectures"`
	EphemeralStorage map[string]int    `json:"EphemeralStorage"`
	LoggingConfig    map[string]string `json:"LoggingConfig"`
}

type environment struct {
	Variables map[string]string `json:"Variables"`
}

// describe reads size, hash and date from the binary as it is now.
func (r *Runtime) describe(f reference) configuration {
	p := r.pools[f.name]
	c := configuration{
		FunctionName: f.name, FunctionArn: r.qualified(f.name, f.qualifier), Version: latest,
		Runtime: p.function.RuntimeName, Handler: p.function.Handler, Description: p.function.Description,
		Role:    "arn:aws:iam::" + r.opts.Account + ":role/" + f.name,
		Timeout: int(p.function.Timeout / time.Second), MemorySize: p.function.MemoryMB,
		TracingConfig: map[string]string{"Mode": "PassThrough"}, State: "Active", LastUpdateStatus: "Successful",
		PackageType: "Zip", Architectures: []string{p.function.Architecture},
		EphemeralStorage: map[string]int{"Size": 512},
		LoggingConfig:    map[string]string{"LogFormat": "Text", "LogGroup": p.logGroup()},
	}
	if len(p.function.Env) > 0 {
		c.Environment = &environment{Variables: p.function.Env}
	}
	modified := r.began
	if info, err := os.Stat(p.function.Bootstrap); err == nil {
		c.CodeSize, modified = info.Size(), info.ModTime()
		c.CodeSha256 = fileHash(p.function.Bootstrap)
	}
	c.LastModified = modified.UTC().Format("2006-01-02T15:04:05.000-0700")
	return c
}

// fileHash is "" for a file that can't be read.
func fileHash(path string) string {
	file, err := os.Open(path) //nolint:gosec // the path is the configured binary's
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // only read
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(hash.Sum(nil))
}

func (r *Runtime) serveGetConfiguration(w http.ResponseWriter, _ *http.Request, f reference) error {
	writeJSON(w, http.StatusOK, r.describe(f))
	return nil
}

func (r *Runtime) serveGetFunction(w http.ResponseWriter, _ *http.Request, f reference) error {
	body := struct {
		Configuration configuration
		Code          map[string]string
		Concurrency   map[string]int `json:",omitempty"`
	}{
		Configuration: r.describe(f),
		Code:          map[string]string{"RepositoryType": "S3", "Location": (&url.URL{Scheme: "file", Path: r.pools[f.name].function.Bootstrap}).String()},
		Concurrency:   r.reservation(f),
	}
	writeJSON(w, http.StatusOK, body)
	return nil
}

func (r *Runtime) serveGetConcurrency(w http.ResponseWriter, _ *http.Request, f reference) error {
	body := r.reservation(f)
	if body == nil {
		body = map[string]int{}
	}
	writeJSON(w, http.StatusOK, body)
	return nil
}

// reservation is the function's reserved concurrency; nil when it has none of its own.
func (r *Runtime) reservation(f reference) map[string]int {
	at := slices.IndexFunc(r.opts.Functions, func(known Function) bool { return known.Name == f.name })
	if n := r.opts.Functions[at].MaxConcurrency; n > 0 {
		return map[string]int{"ReservedConcurrentExecutions": n}
	}
	return nil
}

// serveList is ListFunctions. Every function has one version, so FunctionVersion ALL lists the same.
func (r *Runtime) serveList(w http.ResponseWriter, req *http.Request) error {
	query := req.URL.Query()
	if version := query.Get("FunctionVersion"); version != "" && version != "ALL" {
		return invalid("functionVersion", version, "enum value set: [ALL]")
	}
	if query.Has("MasterRegion") {
		return &apiError{
			status: http.StatusBadRequest, kind: "InvalidParameterValueException",
			message: "MasterRegion is not a parameter that the local platform supports",
		}
	}
	size := pageSize
	if text := query.Get("MaxItems"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 10_000 {
			return invalid("maxItems", text, "a value between 1 and 10000")
		}
		size = min(n, pageSize)
	}
	from, err := r.after(query.Get("Marker"))
	if err != nil {
		return err
	}
	page := struct {
		Functions  []configuration
		NextMarker string `json:",omitempty"`
	}{Functions: []configuration{}}
	to := min(from+size, len(r.names))
	for _, name := range r.names[from:to] {
		f := reference{name: name}
		if query.Get("FunctionVersion") == "ALL" {
			f.qualifier = latest
		}
		page.Functions = append(page.Functions, r.describe(f))
	}
	if to < len(r.names) {
		page.NextMarker = base64.URLEncoding.EncodeToString([]byte(r.names[to-1]))
	}
	writeJSON(w, http.StatusOK, page)
	return nil
}

// after is the index of the first name behind a page's marker.
func (r *Runtime) after(marker string) (int, error) {
	if marker == "" {
		return 0, nil
	}
	name, err := base64.URLEncoding.DecodeString(marker)
	if err != nil {
		return 0, &apiError{status: http.StatusBadRequest, kind: "InvalidParameterValueException", message: fmt.Sprintf("Invalid marker %q", marker)}
	}
	at, found := slices.BinarySearch(r.names, string(name))
	if found {
		at++
	}
	return at, nil
}
