// Command hello-world is a function in a module of its own.
package main

import (
	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func handle(request events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	return events.APIGatewayProxyResponse{StatusCode: 200, Body: "Hello, " + request.RequestContext.Identity.SourceIP + "!\n"}, nil
}

func main() {
	lambda.Start(handle)
}
