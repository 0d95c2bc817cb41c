import cors from 'cors'
import express from 'express'
import { stations } from './stations.js'

const app = express()
app.use(cors({ origin: process.env.WEB_ORIGIN ?? 'http://localhost:5173' }))
app.get('/api/stations', (_request, response) => response.json(stations()))
app.listen(process.env.PORT ?? 8080)
