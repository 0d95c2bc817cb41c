package platform

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"devplatform/infra/local/loopback"
)

// Account is the number of the AWS account in every ARN. AWS uses the same number in its examples.
const Account = "123456789012"

// Config is the configuration of a platform. Template and DataDir are required. The tags name the variables from which
// the command reads the other fields: errors use these names.
type Config struct {
	// Template is the path of the SAM template.
	Template string
	// Binaries is a folder with the binary of each function, which has the name of the last element of its CodeUri. If it
	// is empty, the platform builds the functions.
	Binaries string

	// Port is the port of the gateway for HTTP. HTTPS is at Port + 443.
	Port int `env:"PORT" envDefault:"3000" doc:"port of the gateway for HTTP; HTTPS is 443 higher (0: any free ports)"`
	// SitesPort is the port of the API with a wildcard domain.
	SitesPort int `env:"SITES_PORT" envDefault:"3001" doc:"port of the sites (0: any free port)"`
	// AWSPort is the port of the AWS services.
	AWSPort int `env:"AWS_PORT" envDefault:"4566" doc:"port of the AWS services (0: any free port)"`
	// ConsolePort is the port of the console, which shows the mails of functions.
	ConsolePort int `env:"CONSOLE_PORT" envDefault:"3002" doc:"port of the console with the mailbox (0: any free port)"`
	// DataDir is the folder of all data.
	DataDir string `env:"DATA_DIR" envDefault:".local" doc:"folder of all data"`
	// DynamoDBLatency is the least time that a call to DynamoDB takes.
	DynamoDBLatency time.Duration `env:"DYNAMODB_LATENCY" doc:"least time of a call to DynamoDB; on AWS, about 4ms"`
	// Concurrency is the maximum number of instances of each function. 0 means 10.
	Concurrency int `env:"LAMBDA_CONCURRENCY" envDefault:"10" doc:"maximum number of instances of each function"`
	// Region is the region of functions, ARNs and clients. "" means us-east-1.
	Region string `env:"AWS_REGION" envDefault:"us-east-1" doc:"region in ARNs and of the functions"`
	// EndpointURL is the URL of DynamoDB, SQS, S3, Secrets Manager and SES. "" means the embedded services.
	EndpointURL string `env:"AWS_ENDPOINT_URL" doc:"URL of other DynamoDB, SQS, S3, Secrets Manager and SES services"`
	// The credentials of the functions and of the platform's own clients. They are used only with EndpointURL, so that
	// the functions do not get real credentials by accident. The credentials of the embedded services are "local".
	AccessKeyID  string `env:"AWS_ACCESS_KEY_ID" doc:"credentials for AWS_ENDPOINT_URL"`
	SecretKey    string `env:"AWS_SECRET_ACCESS_KEY"`
	SessionToken string `env:"AWS_SESSION_TOKEN"`
	// PublicURL is the origin at which browsers reach the gateway through a proxy. All ports accept its host. "" if there
	// is no proxy.
	PublicURL string `env:"APP_URL" doc:"origin at which browsers reach the service, if a proxy forwards to it"`
	// HasSymbols builds the functions with symbols and without optimizations, for a debugger.
	HasSymbols bool

	// CodeHost configures the built-in code host. nil means that there is none.
	CodeHost *CodeHost
	// Values returns values for the template that depend on the platform's addresses. nil means that there are none.
	Values func(Addresses) Values
	// Pages are pages of the project to show to people.
	Pages []Page
	// Logger gets the logs of the platform and of the functions. nil discards them.
	Logger *slog.Logger
}

// CodeHost is the OAuth client of the built-in code host.
type CodeHost struct{ ClientID, ClientSecret string }

// Values are values for a template. Values that the template does not declare are ignored.
type Values struct {
	// Parameters replace the defaults of the template's parameters.
	Parameters map[string]string
	// Variables replace variables of functions, in each function for which the template sets the variable.
	Variables map[string]string
}

const defaultRegion = "us-east-1"

// httpsOffset is the difference between the ports for HTTPS and for HTTP.
const httpsOffset = 443

const maxPort = 65535

// now is the clock of all parts.
var now = time.Now //nolint:forbidigo // the platform is a program of its own

// complete sets defaults, makes paths absolute, and returns an error for each field that is not valid.
func (c *Config) complete() error {
	c.Region = cmp.Or(c.Region, defaultRegion)
	c.Concurrency = cmp.Or(c.Concurrency, 10)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.EndpointURL == "" || c.AccessKeyID == "" {
		c.AccessKeyID, c.SecretKey, c.SessionToken = "local", "local", ""
	}
	var problems []error
	for _, p := range []struct {
		name             string
		value, min, most int
		note             string
	}{
		{"PORT", c.Port, 0, maxPort - httpsOffset, " (https is at PORT+443)"},
		{"SITES_PORT", c.SitesPort, 0, maxPort, ""},
		{"AWS_PORT", c.AWSPort, 0, maxPort, ""},
		{"CONSOLE_PORT", c.ConsolePort, 0, maxPort, ""},
		{"LAMBDA_CONCURRENCY", c.Concurrency, 1, 1000, ""},
	} {
		if p.value < p.min || p.value > p.most {
			problems = append(problems, fmt.Errorf("%s=%d: must be %d to %d%s", p.name, p.value, p.min, p.most, p.note))
		}
	}
	problems = append(problems, c.checkEndpoint())
	public, err := url.Parse(c.PublicURL)
	isOrigin := err == nil && public.Scheme != "" && public.Host != "" && c.PublicURL == public.Scheme+"://"+public.Host
	if c.PublicURL != "" && !isOrigin {
		problems = append(problems, fmt.Errorf("APP_URL=%s: must be an origin such as https://app.example.com", c.PublicURL))
	}
	if c.DataDir == "" {
		problems = append(problems, errors.New("DATA_DIR is empty: set it to a folder"))
	}
	for _, path := range []*string{&c.DataDir, &c.Binaries} {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", *path, err))
		}
		*path = absolute
	}
	return errors.Join(problems...)
}

// httpsPort returns the port for HTTPS, or 0 for any free port.
func (c *Config) httpsPort() int {
	if c.Port == 0 {
		return 0
	}
	return c.Port + httpsOffset
}

// checkEndpoint returns an error for an endpoint that is not a URL, or that is this platform. A shell in which the AWS
// CLI was used with the platform may still have the variable.
func (c *Config) checkEndpoint() error {
	if c.EndpointURL == "" {
		return nil
	}
	if !strings.HasPrefix(c.EndpointURL, "http://") && !strings.HasPrefix(c.EndpointURL, "https://") {
		return fmt.Errorf("AWS_ENDPOINT_URL=%s: must start with http:// or https://", c.EndpointURL)
	}
	endpoint, err := url.Parse(c.EndpointURL)
	if err != nil {
		return fmt.Errorf("AWS_ENDPOINT_URL=%s: is not a URL", c.EndpointURL)
	}
	if loopback.Accepts(endpoint.Hostname()) && endpoint.Port() == strconv.Itoa(c.AWSPort) {
		return errors.New("AWS_ENDPOINT_URL is this platform itself: unset it")
	}
	return nil
}

// hosts returns the host of PublicURL, which all ports accept.
func (c *Config) hosts() []string {
	if public, err := url.Parse(c.PublicURL); err == nil && public.Host != "" {
		return []string{public.Host}
	}
	return nil
}
