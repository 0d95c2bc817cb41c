// Command docs is the Lambda function behind /api/openapi.json and /api/docs. Its responses are streamed, because API
// Gateway forwards compressed responses unchanged only if they are streamed or if binary media types are configured,
// which would change the events of the other functions.
package main

import "devplatform/shared/lambdafn/apigateway"

func main() { apigateway.StartStreaming(newHandler) }
