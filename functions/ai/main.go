// Command ai is the Lambda function behind /api/ai. Its answers are streamed, so that none is cut at the gateway's 29 seconds.
package main

import "devplatform/shared/lambdafn/apigateway"

func main() { apigateway.StartStreaming(newHandler) }
