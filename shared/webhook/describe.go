package webhook

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"devplatform/shared/event"
	"devplatform/shared/httpapi"
)

// sentHeaders are the headers of a delivery, as signature.Sign and the sender set them.
type sentHeaders struct {
	Signature         string `header:"X-Service-Signature" required:"true" doc:"sha256= and, in hexadecimal, the HMAC-SHA256 of the raw body. The key is the newest secret as it was given: its UTF-8 bytes, a prefix included" example:"sha256=6c7ad1b0f0b6f0d0f1f2c8d3f2f1f8a9c55a9b1e3a8f4c70c1e7b1d8a5d2e3f4"`
	Event             string `header:"X-Service-Event" required:"true" doc:"The event's type" example:"file.created"`
	Delivery          string `header:"X-Service-Delivery" required:"true" doc:"The delivery's id, the same in every attempt" example:"dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	Timestamp         string `header:"X-Service-Timestamp" required:"true" doc:"When the attempt was made" example:"2026-01-31T08:15:30.123Z"`
	StandardID        string `header:"webhook-id" required:"true" doc:"The event's id, to know a repetition by (Standard Webhooks)" example:"evt_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	StandardTimestamp string `header:"webhook-timestamp" required:"true" doc:"When the attempt was made, in seconds since 1970 (Standard Webhooks)" example:"1769847330"`
	StandardSignature string `header:"webhook-signature" required:"true" doc:"v1, and the base64 of the HMAC-SHA256 of webhook-id.webhook-timestamp.body, once for every secret that is valid, with blanks between. A secret with whsec_ is decoded as base64, any other is the key as it is (Standard Webhooks)" example:"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="`
	UserAgent         string `header:"User-Agent" required:"true" doc:"The service" example:"devplatform-webhooks/1"`
}

// meanings are what answers to a delivery come to.
var meanings = map[string]string{
	"2XX":     "Taken. The whole answer has to be there within 15 seconds.",
	"410":     "Disables the webhook at once.",
	"429":     "Failed. Retry-After is honoured, up to twice the wait that is due.",
	"503":     "Failed. Retry-After is honoured, up to twice the wait that is due.",
	"default": "Failed, as is any redirect, and no answer at all: sent again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each ±20 %.",
}

// Describe adds to the API's document what is sent to webhooks. Functions have no use for it.
func Describe(h huma.API) {
	for _, name := range event.Examples() {
		kind := event.Type(name)
		httpapi.DescribeWebhook[sentHeaders](h, httpapi.Webhook{
			Name: name, ID: "on" + inCamel(name), Tag: tag,
			Summary:     "Sent on " + name,
			Description: occasion(kind) + " Sent at least once and in no certain order; `id` is the same in every attempt and for every subscriber.",
			Payload:     event.SchemaOf(h.OpenAPI().Components.Schemas, kind),
			Example:     event.Shown(kind, httpapi.ExampleTime),
			Answers:     meanings,
		})
	}
}

// occasion is when there is an event of a type.
func occasion(kind event.Type) string {
	switch kind {
	case event.WebhookTest:
		return "A webhook was tested; it is sent to that webhook alone, and not again."
	case event.ProjectDeployed, event.DeploymentCompleted:
		return "Of deployments, a later capability: it can be subscribed to and tested, and nothing emits it yet."
	case event.FileDeleted, event.FileCreated:
		return "A rename of a file is its deletion and a creation. The deletion of a project emits no events of its files."
	default:
		return "Something changed, as the type says; a request that changes nothing emits nothing."
	}
}

func inCamel(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, ".") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
