import { OrbitControls, Stars } from '@react-three/drei'
import { Canvas } from '@react-three/fiber'
import { planets } from '../planets'
import { PlanetMesh } from './PlanetMesh'

interface SystemProps {
  selected: string
  speed: number
  onSelect: (name: string) => void
}

export default function System({ selected, speed, onSelect }: SystemProps) {
  return (
    <Canvas camera={{ position: [0, 10, 16], fov: 45 }} dpr={[1, 2]} gl={{ antialias: false }}>
      <color attach="background" args={['#0a0b14']} />
      <ambientLight intensity={0.4} />
      <pointLight intensity={36} decay={1.6} />
      <mesh>
        <sphereGeometry args={[0.9, 32, 32]} />
        <meshBasicMaterial color="#ffc766" />
      </mesh>
      {planets.map((planet) => (
        <PlanetMesh key={planet.name} planet={planet} speed={speed} selected={planet.name === selected} onSelect={() => onSelect(planet.name)} />
      ))}
      <Stars radius={60} depth={30} count={700} factor={3} fade />
      <OrbitControls enablePan={false} minDistance={5} maxDistance={24} />
    </Canvas>
  )
}
