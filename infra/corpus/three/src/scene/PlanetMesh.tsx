import { Float, Html, Ring } from '@react-three/drei'
import { useFrame } from '@react-three/fiber'
import { useRef } from 'react'
import { DoubleSide, type Group } from 'three'
import type { Planet } from '../planets'

interface PlanetMeshProps {
  planet: Planet
  speed: number
  selected: boolean
  onSelect: () => void
}

export function PlanetMesh({ planet, speed, selected, onSelect }: PlanetMeshProps) {
  const group = useRef<Group>(null)
  const angle = useRef(planet.orbit * 2)

  useFrame((_, seconds) => {
    angle.current += (seconds * speed * 60) / planet.days
    group.current?.position.set(Math.cos(angle.current) * planet.orbit, 0, Math.sin(angle.current) * planet.orbit)
  })

  return (
    <>
      <Ring args={[planet.orbit - 0.008, planet.orbit + 0.008, 128]} rotation-x={Math.PI / 2}>
        <meshBasicMaterial color="#ffffff" transparent opacity={selected ? 0.6 : 0.15} side={DoubleSide} />
      </Ring>
      <group ref={group}>
        <Float speed={2} floatIntensity={0.3} rotationIntensity={0}>
          <mesh onClick={onSelect} scale={selected ? 1.15 : 1}>
            <sphereGeometry args={[planet.size, 24, 24]} />
            <meshStandardMaterial color={planet.color} roughness={0.8} />
          </mesh>
          {planet.ring && (
            <Ring args={[planet.size * 1.3, planet.size * 1.9, 64]} rotation-x={1.9}>
              <meshStandardMaterial color="#cdb98a" side={DoubleSide} />
            </Ring>
          )}
          <Html center position={[0, planet.size + 0.35, 0]} className={selected ? 'label' : 'label hidden'}>
            {planet.name}
          </Html>
        </Float>
      </group>
    </>
  )
}
