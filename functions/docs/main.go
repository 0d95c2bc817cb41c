// Command docs is the Lambda function for /api/openapi.json and /api/docs. It streams its responses, because some of
// them are compressed. API Gateway forwards compressed bodies unchanged only if the response is streamed or if binary
// media types are configured. Binary media types would change the events of all functions.
package main

import "devplatform/shared/lambdafn/apigateway"

func main() { apigateway.StartStreaming(newHandler) }
