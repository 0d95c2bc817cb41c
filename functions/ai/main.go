// Command ai is the Lambda function behind /api/ai. Its responses are streamed, so that the gateway does not cut them
// off after 29 seconds.
package main

import "devplatform/shared/lambdafn/apigateway"

func main() { apigateway.StartStreaming(newHandler) }
