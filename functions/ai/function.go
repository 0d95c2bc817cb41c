// Command ai is the Lambda function behind /api/ai. Its responses are streamed, so that the gateway does not cut them
// off after 29 seconds.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"devplatform/shared/account/session"
	"devplatform/shared/assistant"
	"devplatform/shared/assistant/bedrock"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
	"devplatform/shared/assistant/scaffold"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn/apigateway"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/file"
)

func main() { apigateway.StartStreaming(newHandler, apigateway.Unbounded) }

// settings are the environment variables of the function.
type settings struct {
	AWS           config.AWS
	Tables        config.Tables
	Files         config.ProjectTables
	Bucket        config.FilesBucket
	Conversations config.ConversationsTable
	Edge          config.Edge
	Metrics       config.Metrics
	// Keys is the name or ARN of the secret with the key ring.
	Keys   string `env:"KEYS_SECRET,required,notEmpty"`
	Model  modelSettings
	Quotas file.QuotaSettings
	Limits assistant.Limits
}

// modelSettings select the model and its provider.
type modelSettings struct {
	// Provider is bedrock, openai or scaffold.
	Provider string `env:"AI_PROVIDER,required,notEmpty"`
	// Name is the ID of the model at its provider. The provider scaffold does not use it.
	Name string `env:"AI_MODEL"`
	// OpenAIBaseURL is the URL of an OpenAI-compatible server.
	OpenAIBaseURL string `env:"OPENAI_BASE_URL" envDefault:"https://api.openai.com/v1"`
	// OpenAIKey is the API key for the server. If it is empty, the key is read from Secret.
	OpenAIKey string `env:"OPENAI_API_KEY"`
	// Secret is the name or ARN of the secret with the API key, in the field openaiApiKey.
	Secret string `env:"MODEL_SECRET,required,notEmpty"`
}

// newProvider returns the provider that the settings select. secret returns the API key from Secrets Manager.
// newProvider does no I/O.
func (m modelSettings) newProvider(
	aws config.AWS, secret func(context.Context) (string, error),
) (model.Provider, error) {
	switch m.Provider {
	case "scaffold":
		return scaffold.New(), nil
	case "bedrock", "openai":
	default:
		return nil, fmt.Errorf("AI_PROVIDER=%s is not valid: use bedrock, openai or scaffold", m.Provider)
	}
	if m.Name == "" {
		return nil, fmt.Errorf("AI_MODEL is missing: set it to the ID of a model of AI_PROVIDER=%s", m.Provider)
	}
	if m.Provider == "bedrock" {
		return bedrock.New(bedrock.Options{AWS: aws, Model: m.Name}), nil
	}
	base, err := url.Parse(m.OpenAIBaseURL)
	if err != nil || base.Hostname() == "" || (base.Scheme != "https" && base.Scheme != "http") {
		return nil, errors.New("OPENAI_BASE_URL must be an absolute https URL")
	}
	if base.Scheme == "http" && !config.IsPrivateHost(base.Hostname()) {
		return nil, errors.New("OPENAI_BASE_URL must be an https URL, because http to a public host would expose the " +
			"API key and the code of users. Only hosts on this machine and in private networks can have an http URL")
	}
	key := secret
	if m.OpenAIKey != "" {
		key = func(context.Context) (string, error) { return m.OpenAIKey, nil }
	}
	return openai.New(openai.Options{BaseURL: m.OpenAIBaseURL, Model: m.Name, Key: key}), nil
}

// newHandler builds the function's handler. It returns an error if a setting is invalid. The slow parts are built in
// the background, while the function waits for its first event.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (http.Handler, error) {
	secrets := config.NewSecrets(cfg.AWS, cfg.Metrics, now, logger)
	key := secrets.Credentials(cfg.Model.Secret).Field("openaiApiKey")
	provider, err := cfg.Model.newProvider(cfg.AWS, key.Get)
	if err != nil {
		return nil, err
	}
	keys := secrets.Keys(cfg.Keys)
	return httpapi.Lazy(func() http.Handler {
		client := db.New(cfg.AWS, now)
		ids := id.NewGenerator(now, rand.Reader)
		cursors := db.NewCursors(keys)
		files := file.New(file.Deps{
			DB: client, Projects: client.Table(cfg.Tables.Projects), Contents: client.Table(cfg.Files.Contents),
			Bucket:  objectstore.New(cfg.AWS).Bucket(cfg.Bucket.Files),
			Outbox:  event.Outbox{Events: client.Table(cfg.Files.Events), IDs: ids},
			Cursors: cursors, IDs: ids, Clock: now, Quotas: cfg.Quotas.Quotas(),
		})
		ai := assistant.New(assistant.Deps{
			DB: client, Conversations: client.Table(cfg.Conversations.Conversations),
			Projects: client.Table(cfg.Tables.Projects), Files: files,
			Cursors: cursors, IDs: ids, Clock: now, Logger: logger, Model: provider, Limits: cfg.Limits,
		})
		return httpapi.NewRouter(httpapi.Config{
			Edge: cfg.Edge, Logger: logger, Clock: now,
			Auth: session.New(client, cfg.Tables, keys, now, logger),
		}, ai.Register)
	}), nil
}
