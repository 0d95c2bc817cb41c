package awsjson

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// RejectService responds to a request for a service that the local platform does not have, in the protocol of the
// request, so that SDKs report the message. The Query protocol (STS, SNS, IAM and others) sends forms and reads XML, S3
// reads XML, and all others read JSON. service is the name in the signature, such as "sts", or "" if there is none.
func RejectService(w http.ResponseWriter, r *http.Request, service string) {
	target := r.Header.Get("X-Amz-Target")
	isForm := strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
	message := "The local platform does not have this service or operation."
	switch {
	case target != "":
		message = fmt.Sprintf("The local platform has no service for X-Amz-Target %s.", target)
	case service != "":
		message = fmt.Sprintf("The local platform does not have the AWS service %s, which this request is for.", service)
	}
	requestID := uuid.NewString()
	header := w.Header()
	header.Set("X-Amzn-Requestid", requestID)
	refusal := xmlError{Type: "Sender", Code: "UnknownOperationException", Message: message}
	var body []byte
	var err error
	switch {
	case target != "" || !isForm && service != "s3":
		header.Set("X-Amzn-Errortype", refusal.Code)
		header.Set("Content-Type", Version10)
		body, err = json.Marshal(Error{Type: refusal.Code, Message: message})
	case service == "s3":
		header.Set("Content-Type", "application/xml")
		refusal.Type = ""
		body, err = xml.Marshal(refusal)
	default:
		header.Set("Content-Type", "text/xml")
		body, err = xml.Marshal(xmlErrorResponse{Error: refusal, RequestID: requestID})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(body) // the client may have gone
}

// xmlErrorResponse is an error of the Query protocol.
type xmlErrorResponse struct {
	XMLName   xml.Name `xml:"ErrorResponse"`
	Error     xmlError
	RequestID string `xml:"RequestId"`
}

type xmlError struct {
	XMLName xml.Name `xml:"Error"`
	Type    string   `xml:",omitempty"`
	Code    string
	Message string
}
