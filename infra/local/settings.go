package main

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Settings are the settings of the local platform, from the environment. shared/config/README.md describes them.
type Settings struct {
	// Port is the gateway's http port; https is at Port + 443. 0 takes two free ones.
	Port int `env:"PORT" envDefault:"3000"`
	// SitesPort is the port of sites. 0 takes a free one.
	SitesPort int `env:"SITES_PORT"`
	// AWSPort is the port of the AWS services' wire protocols. 0 takes a free one.
	AWSPort int `env:"AWS_PORT" envDefault:"4566"`
	// DataDir keeps tables, queues, objects, secrets, the positions of event source mappings, certificates and identities.
	DataDir string `env:"DATA_DIR" envDefault:".local"`
	// EndpointURL, if set, is used in place of the embedded DynamoDB, SQS, S3 and Secrets Manager.
	EndpointURL string `env:"AWS_ENDPOINT_URL"`
	// Region is that of functions, ARNs and clients.
	Region string `env:"AWS_REGION" envDefault:"us-east-1"`
	// The credentials are what functions and the platform's own clients sign with. With the embedded services they are
	// "local": nobody's real ones are handed to a child process for nothing.
	AccessKeyID  string `env:"AWS_ACCESS_KEY_ID"`
	SecretKey    string `env:"AWS_SECRET_ACCESS_KEY"`
	SessionToken string `env:"AWS_SESSION_TOKEN"`
	// Concurrency is the most execution environments of one function.
	Concurrency int `env:"LAMBDA_CONCURRENCY" envDefault:"10"`
	// OAuthProvider, if set at all, keeps the built-in code host out of the functions' settings.
	OAuthProvider string `env:"OAUTH_PROVIDER"`

	// AppURL is where browsers reach the service: the ports accept its host.
	AppURL string `env:"APP_URL"`

	// Registry returns the npm registry of this machine, or "". It is nil if NPM_REGISTRY is set.
	Registry func() string
	// Template is the file that says what runs.
	Template string
	// Binaries is a folder with a binary for each function, named as the last element of its CodeUri.
	// Without it the platform builds them itself, from CodeUri.
	Binaries string
}

// httpsOffset is how far the https port lies above the http one.
const httpsOffset = 443

// defaultSitesPort is the port of sites, unless PORT is 0, which asks for free ports.
const defaultSitesPort = 3001

// maxPort is the highest TCP port.
const maxPort = 65535

// account is the account number in every ARN, the one that AWS's own documents use.
const account = "123456789012"

// loadSettings reads the environment; an error names every variable that is wrong.
func loadSettings() (Settings, error) {
	var s Settings
	if err := env.Parse(&s); err != nil {
		return s, unparsed(err)
	}
	var problems []error
	if s.Port < 0 || s.Port > maxPort-httpsOffset {
		problems = append(problems, fmt.Errorf("PORT=%d: must be 0 to %d (https is at PORT+%d)", s.Port, maxPort-httpsOffset, httpsOffset))
	}
	if os.Getenv("SITES_PORT") == "" && s.Port != 0 {
		s.SitesPort = defaultSitesPort
	}
	if s.SitesPort < 0 || s.SitesPort > maxPort {
		problems = append(problems, fmt.Errorf("SITES_PORT=%d: must be 0 to %d", s.SitesPort, maxPort))
	}
	if s.AWSPort < 0 || s.AWSPort > maxPort {
		problems = append(problems, fmt.Errorf("AWS_PORT=%d: must be 0 to %d", s.AWSPort, maxPort))
	}
	problems = append(problems, s.equalPorts()...)
	if s.Concurrency < 1 || s.Concurrency > 1000 {
		problems = append(problems, fmt.Errorf("LAMBDA_CONCURRENCY=%d: must be 1 to 1000", s.Concurrency))
	}
	if err := s.checkEndpoint(); err != nil {
		problems = append(problems, err)
	}
	if s.EndpointURL == "" || s.AccessKeyID == "" {
		s.AccessKeyID, s.SecretKey, s.SessionToken = "local", "local", ""
	}
	dir, err := filepath.Abs(s.DataDir)
	if err != nil {
		problems = append(problems, fmt.Errorf("DATA_DIR: %w", err))
	}
	s.DataDir = dir
	return s, errors.Join(problems...)
}

// equalPorts returns an error for each port that has two purposes. A port of 0 is any free port.
func (s *Settings) equalPorts() (problems []error) {
	ports := []struct {
		name string
		port int
	}{{"PORT", s.Port}, {fmt.Sprintf("PORT+%d", httpsOffset), s.Port + httpsOffset}, {"SITES_PORT", s.SitesPort}, {"AWS_PORT", s.AWSPort}}
	if s.Port == 0 {
		ports[1].port = 0
	}
	for i, later := range ports {
		for _, p := range ports[:i] {
			if p.port == later.port && p.port != 0 {
				problems = append(problems, fmt.Errorf("%s and %s are both %d: set %s to another port", p.name, later.name, p.port, later.name))
			}
		}
	}
	return problems
}

// unparsed says what the environment's numbers are not, by the names that the user knows.
func unparsed(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return fmt.Errorf("settings: %w", err)
	}
	problems := make([]error, 0, len(all.Errors))
	for _, err := range all.Errors {
		var wrong env.ParseError
		field, found := reflect.StructField{}, false
		if errors.As(err, &wrong) {
			field, found = reflect.TypeFor[Settings]().FieldByName(wrong.Name)
		}
		if !found || field.Type.Kind() != reflect.Int {
			problems = append(problems, fmt.Errorf("settings: %w", err))
			continue
		}
		name := field.Tag.Get("env")
		problems = append(problems, fmt.Errorf("%s=%s: must be a number", name, os.Getenv(name)))
	}
	return errors.Join(problems...)
}

// checkEndpoint refuses what is no address, and this platform's own, which a shell may still name that the AWS CLI was used in:
// nothing but Lambda would answer there.
func (s *Settings) checkEndpoint() error {
	if s.EndpointURL == "" {
		return nil
	}
	if !strings.HasPrefix(s.EndpointURL, "http://") && !strings.HasPrefix(s.EndpointURL, "https://") {
		return fmt.Errorf("AWS_ENDPOINT_URL=%s: must start with http:// or https://", s.EndpointURL)
	}
	endpoint, err := url.Parse(s.EndpointURL)
	if err != nil {
		return fmt.Errorf("AWS_ENDPOINT_URL=%s: is no URL", s.EndpointURL)
	}
	port := endpoint.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[endpoint.Scheme]
	}
	if isHere(endpoint.Hostname()) && port == strconv.Itoa(s.AWSPort) {
		return errors.New("AWS_ENDPOINT_URL is this platform itself: unset it")
	}
	return nil
}

// isHere tells whether a host is this machine's own name or address for itself.
func isHere(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified())
}

// environment is the process's own environment as a map.
func environment() map[string]string {
	vars := make(map[string]string)
	for _, line := range os.Environ() {
		if name, value, ok := strings.Cut(line, "="); ok {
			vars[name] = value
		}
	}
	return vars
}
