package webhook

import "devplatform/shared/httpapi"

var tag = httpapi.Tag{
	Name: "Webhooks",
	Description: "Endpoints that receive the events of a workspace, each with a log of its deliveries. " +
		"Only the admins and owners of the workspace can access them. " +
		"The webhooks section of this document describes the requests that the endpoints receive, and their signatures.",
}

const (
	webhooksPath   = "/api/webhooks"
	webhookPath    = webhooksPath + "/{id}"
	deliveriesPath = webhookPath + "/deliveries"
	deliveryPath   = deliveriesPath + "/{deliveryId}"
)

// Register adds the endpoints of webhooks and their deliveries, except for the test.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerWebhooks(r)
	s.registerDeliveries(r)
}
