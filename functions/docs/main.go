// Command docs is the Lambda function behind /api/openapi.json and /api/docs. Its answers are streamed: API Gateway then passes
// compressed ones through as they are, with no binary media types configured, which would change what the other functions get.
package main

import "devplatform/shared/lambdafn/apigateway"

func main() { apigateway.StartStreaming(newHandler) }
