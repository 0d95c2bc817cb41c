package webhook

import (
	"time"

	"devplatform/shared/clock"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/webhook/delivery"
)

// shownULID ends the ids of what the document shows.
const shownULID = "01K9ZQ3V7M8T5XW2ABCDEFGHJK"

// shownWebhook is the webhook of the examples.
func shownWebhook() delivery.Webhook {
	at := clock.Stamp(httpapi.ExampleTime)
	return delivery.Webhook{
		ID: "wh_" + shownULID, WorkspaceID: "ws_" + shownULID, URL: "https://example.com/hooks", Events: []string{"project.*", "file.created"},
		Description: "Tells the build server.", Active: true, CreatedAt: at, UpdatedAt: at,
		Health: delivery.Health{LastAt: &at, LastStatus: delivery.Succeeded},
	}
}

// shownDelivery is the delivery of the examples: one that succeeded at the second attempt.
func shownDelivery() delivery.Delivery {
	at := clock.Stamp(httpapi.ExampleTime)
	return delivery.Delivery{
		ID: "dlv_" + shownULID, EventID: "evt_" + shownULID, Type: event.FileCreated, Payload: event.Shown(event.FileCreated, httpapi.ExampleTime),
		Status: delivery.Succeeded, Attempts: []delivery.Attempt{
			{At: at, StatusCode: 503, DurationMs: 41, Error: "status 503", Response: "busy"},
			{At: clock.Stamp(httpapi.ExampleTime.Add(5 * time.Second)), StatusCode: 200, DurationMs: 87, Response: "ok"},
		},
	}
}

func createExamples() httpapi.Examples {
	var in newWebhookInput
	w := shownWebhook()
	in.Body.URL, in.Body.Description = w.URL, w.Description
	for _, p := range w.Events {
		in.Body.Events = append(in.Body.Events, pattern(p))
	}
	w.Health = delivery.Health{}
	return httpapi.Examples{
		Request:  in.Body,
		Response: WebhookWithSecret{webhookItem(w), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="},
	}
}

func listExamples() httpapi.Examples {
	var out webhookListOutput
	out.Body.Webhooks = []WebhookItem{webhookItem(shownWebhook())}
	return httpapi.Examples{Response: out.Body}
}

func updateExamples() httpapi.Examples {
	var in webhookSettingsInput
	w := shownWebhook()
	w.Events, w.UpdatedAt = []string{event.Everything}, clock.Stamp(httpapi.ExampleTime.Add(time.Hour))
	in.Body.Events, in.Body.Active = []pattern{event.Everything}, &w.Active
	return httpapi.Examples{Request: in.Body, Response: WebhookWithSecret{WebhookItem: webhookItem(w)}}
}

func listDeliveriesExamples() httpapi.Examples {
	var out deliveryListOutput
	out.Body.Deliveries = []DeliveryItem{deliveryItem(shownDelivery(), httpapi.ExampleTime)}
	return httpapi.Examples{Response: out.Body}
}

func readDeliveryExamples() httpapi.Examples {
	var out deliveryReadOutput
	d := shownDelivery()
	out.Body.DeliveryItem, out.Body.Payload = deliveryItem(d, httpapi.ExampleTime), sentPayload(d.Payload)
	return httpapi.Examples{Response: out.Body}
}

// redeliverExamples show a delivery whose new attempt is planned.
func redeliverExamples() httpapi.Examples {
	d, at := shownDelivery(), clock.Stamp(httpapi.ExampleTime.Add(time.Hour))
	d.Status, d.NextAttemptAt = delivery.Pending, &at
	return httpapi.Examples{Response: deliveryItem(d, httpapi.ExampleTime)}
}

func testExamples() httpapi.Examples {
	var out testOutput
	out.Body.AttemptItem, out.Body.DeliveryID = attemptItem(shownDelivery().Attempts[1]), "dlv_"+shownULID
	return httpapi.Examples{Response: out.Body}
}
