// Package config is the typed configuration of the functions: the environment, the secrets, and the keys that are
// derived from the key ring. Each function composes the small structs that it needs into its settings, and loads them
// with Load. Defaults of a domain, such as limits and lifetimes, belong to the package of that domain.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/caarlos0/env/v11"
)

// AWS contains the variables that Lambda sets for every function, and the endpoints that the local platform sets. The
// SDK's own loader would read the same variables, but would add 4 ms to every cold start.
type AWS struct {
	Region          string `env:"AWS_REGION" envDefault:"us-east-1"`
	AccessKeyID     string `env:"AWS_ACCESS_KEY_ID"`
	SecretAccessKey string `env:"AWS_SECRET_ACCESS_KEY"`
	SessionToken    string `env:"AWS_SESSION_TOKEN"`

	Endpoint         string `env:"AWS_ENDPOINT_URL"`
	DynamoDBEndpoint string `env:"AWS_ENDPOINT_URL_DYNAMODB"`
	SQSEndpoint      string `env:"AWS_ENDPOINT_URL_SQS"`
	S3Endpoint       string `env:"AWS_ENDPOINT_URL_S3"`
	SESEndpoint      string `env:"AWS_ENDPOINT_URL_SESV2"`
	SecretsEndpoint  string `env:"AWS_ENDPOINT_URL_SECRETS_MANAGER"`
	// BedrockEndpoint does not default to Endpoint as the others do: the local platform's endpoint serves no models.
	BedrockEndpoint string `env:"AWS_ENDPOINT_URL_BEDROCK_RUNTIME"`
}

// Tables names the DynamoDB tables of users, of workspaces and projects, and of mails. Mail is empty in functions that
// store no mails.
type Tables struct {
	Accounts string `env:"ACCOUNTS_TABLE,required,notEmpty"`
	Projects string `env:"PROJECTS_TABLE,required,notEmpty"`
	Mail     string `env:"MAIL_TABLE"`
}

// ProjectTables names the DynamoDB tables of file contents and of events.
type ProjectTables struct {
	Contents string `env:"CONTENTS_TABLE,required,notEmpty"`
	EventsTable
}

// FilesBucket names the S3 bucket of large file contents.
type FilesBucket struct {
	Files string `env:"FILES_BUCKET,required,notEmpty"`
}

// EventsTable names the DynamoDB table of events.
type EventsTable struct {
	Events string `env:"EVENTS_TABLE,required,notEmpty"`
}

// ConversationsTable names the DynamoDB table of conversations with the assistant.
type ConversationsTable struct {
	Conversations string `env:"CONVERSATIONS_TABLE,required,notEmpty"`
}

// WebhooksTable names the DynamoDB table of webhooks and their deliveries.
type WebhooksTable struct {
	Webhooks string `env:"WEBHOOKS_TABLE,required,notEmpty"`
}

// DeliveryQueues contains the URLs of the queues for attempts in the two lanes.
type DeliveryQueues struct {
	Fast string `env:"DELIVERIES_QUEUE,required,notEmpty"`
	Slow string `env:"SLOW_DELIVERIES_QUEUE,required,notEmpty"`
}

// Metrics configures the metrics of a function.
type Metrics struct {
	// Namespace is the namespace of the metrics in CloudWatch. If it is empty, the function logs no metrics.
	Namespace string `env:"METRICS_NAMESPACE"`
}

// Edge configures how clients reach the service.
type Edge struct {
	// AppURL is the origin at which browsers reach the service. If it is empty, browsers use the origin of the gateway.
	AppURL Origin `env:"APP_URL"`
	// AllowedOrigins are the same-site origins whose pages may call the service.
	AllowedOrigins []Origin `env:"ALLOWED_ORIGINS"`
	// CookiePlainHTTP also sets a session cookie for clients that use plain http. Only the local platform sets this
	// variable.
	CookiePlainHTTP bool `env:"COOKIE_PLAIN_HTTP"`
}

// TrustedOrigins returns the origins whose pages may call the service: AppURL, if it is set, and AllowedOrigins.
func (e Edge) TrustedOrigins() []Origin {
	if e.AppURL == "" {
		return e.AllowedOrigins
	}
	return append([]Origin{e.AppURL}, e.AllowedOrigins...)
}

// Origin is a web origin: a scheme, a host and, unless it is the scheme's default, a port. It has no path and no
// wildcard.
type Origin string

// defaultPort maps schemes to their default ports. Browsers omit them, so an origin with a default port would never
// match.
var defaultPort = map[string]string{"http": "80", "https": "443"}

// UnmarshalText implements encoding.TextUnmarshaler. It accepts http and https origins in the form in which browsers
// send them: in lower case and without a default port.
func (o *Origin) UnmarshalText(text []byte) error {
	u, err := url.Parse(string(text))
	if err != nil {
		return fmt.Errorf("not an origin such as https://app.example.com: %w", err)
	}
	bare := url.URL{Scheme: u.Scheme, Host: u.Host}
	switch {
	case u.Scheme != "https" && u.Scheme != "http",
		u.Hostname() == "", strings.ContainsAny(u.Host, "*%"), // no wildcard, and no zone, which browsers do not send
		defaultPort[u.Scheme] == u.Port(),
		bare.String() != string(text), strings.ToLower(string(text)) != string(text):
		return fmt.Errorf("%q is not an origin such as https://app.example.com", text)
	}
	*o = Origin(text)
	return nil
}

// Load returns the settings of type T, a struct with env tags, from the environment. The tags min and max, such as
// min:"1", limit an int or int64. The error names every variable that is missing or cannot be parsed or, if there
// is none, every variable that is out of range.
func Load[T any]() (T, error) { return parse[T](env.Options{}) }

// Defaults returns the settings of type T with their default values. It ignores the environment. It panics if a
// variable without a default is required.
func Defaults[T any]() T {
	settings, err := parse[T](env.Options{Environment: map[string]string{}})
	if err != nil {
		panic(err)
	}
	return settings
}

func parse[T any](options env.Options) (T, error) {
	options.FuncMap = map[reflect.Type]env.ParserFunc{
		reflect.TypeFor[int](): func(text string) (any, error) { return strconv.Atoi(text) }, // not only 32 bits
	}
	cfg, err := env.ParseAsWithOptions[T](options)
	var problems []string
	if err == nil {
		problems = outOfRange(reflect.ValueOf(cfg))
	} else if all, ok := errors.AsType[env.AggregateError](err); ok {
		for _, err := range all.Errors {
			if invalid, ok := errors.AsType[env.ParseError](err); ok {
				err = parseError(variableOf(reflect.TypeFor[T](), invalid), invalid)
			}
			problems = append(problems, err.Error())
		}
	} else {
		return cfg, fmt.Errorf("config: %w", err)
	}
	if problems != nil {
		return cfg, errors.New(strings.Join(problems, "; "))
	}
	return cfg, nil
}

// outOfRange returns a problem for each variable that breaks a tag min or max.
func outOfRange(settings reflect.Value) (problems []string) {
	for field, value := range settings.Fields() {
		if value.Kind() == reflect.Struct {
			problems = append(problems, outOfRange(value)...)
		}
		variable, _, _ := strings.Cut(field.Tag.Get("env"), ",")
		if minimum, err := strconv.ParseInt(field.Tag.Get("min"), 10, 64); err == nil && value.Int() < minimum {
			problems = append(problems, fmt.Sprintf("%s=%d: must be at least %d", variable, value.Int(), minimum))
		}
		if maximum, err := strconv.ParseInt(field.Tag.Get("max"), 10, 64); err == nil && value.Int() > maximum {
			problems = append(problems, fmt.Sprintf("%s=%d: must be at most %d", variable, value.Int(), maximum))
		}
	}
	return problems
}

// parseError describes a variable that is not valid.
func parseError(variable string, invalid env.ParseError) error {
	reason := invalid.Err.Error()
	switch invalid.Type.Kind() {
	case reflect.Int, reflect.Int64:
		reason = "must be a whole number"
	case reflect.Bool:
		reason = "must be true or false"
	}
	return fmt.Errorf("%s=%s: %s", variable, os.Getenv(variable), reason)
}

// variableOf returns the variable of the field that is not valid, which can be in a nested struct.
func variableOf(settings reflect.Type, invalid env.ParseError) string {
	for i := range settings.NumField() {
		field := settings.Field(i)
		variable, _, _ := strings.Cut(field.Tag.Get("env"), ",")
		if field.Name == invalid.Name && field.Type == invalid.Type && variable != "" {
			return variable
		}
		if field.Type.Kind() == reflect.Struct {
			if variable := variableOf(field.Type, invalid); variable != "" {
				return variable
			}
		}
	}
	return ""
}

// IsPrivateHost reports whether a host is an address of this machine or of a private network, or a name that does not
// exist in public DNS. The URLs of providers may use plain http only with such a host.
func IsPrivateHost(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	if !strings.Contains(host, ".") {
		return true
	}
	for _, suffix := range []string{".localhost", ".local", ".internal", ".test", ".home.arpa"} {
		if strings.HasSuffix(strings.ToLower(host), suffix) {
			return true
		}
	}
	return false
}
