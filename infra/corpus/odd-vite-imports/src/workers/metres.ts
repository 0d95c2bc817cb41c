export const metresPerTurn = (front: number, rear: number, circumference: number) => (front / rear) * circumference
